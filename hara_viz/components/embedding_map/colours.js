// Colours of points: the token heatmap's own scales, so that a value looks alike in the text and on
// the map. Where the text shows the bare page through (nothing to see), a point is a neutral grey.

import { colourScale } from "../token_heatmap/colour.js";

const NEUTRAL = { light: [195, 201, 210], dark: [70, 78, 91] };
const KNOWN = { right: "#3b82c4", wrong: "#dd7a2b", unscored: "#8a8f98" };
export const CATEGORIES = [
  "#3b82c4", "#dd7a2b", "#2f9e76", "#c45fa0", "#b39a1e", "#6a5acd", "#20a4b5", "#c4453b",
  "#7a8b2c", "#8d6e63", "#5677fc", "#e58fb1", "#4f9d3b", "#a05ad0", "#d0a15a", "#607d8b",
];

export const UNKNOWN = "#8a8f9880";
export const FAINT = 0.14; // opacity of what is not in the lasso
export const EDGE = { light: "#4a556659", dark: "#c9d3e259" }; // around a point: pale ones are seen

// {of(value) -> css, css: the ramp or the categories' colours}
export function pointColours({ kind, domain, categories }, dark) {
  if (kind === "categories") {
    const css = categories.map((name, i) => KNOWN[name] ?? CATEGORIES[i % CATEGORIES.length]);
    return { css, of: (value) => (Number.isNaN(value) ? UNKNOWN : (css[value] ?? UNKNOWN)) };
  }
  const scale = colourScale(domain, kind === "signed", dark);
  const css = Array.from(scale.pixels, (pixel) => opaque(pixel, NEUTRAL[dark ? "dark" : "light"]));
  return { css, of: (value) => (Number.isNaN(value) ? UNKNOWN : css[scale.index(value)]) };
}

function opaque(pixel, under) {
  const share = (pixel >>> 24) / 255;
  const parts = under.map((grey, k) => ((pixel >>> (8 * k)) & 255) * share + grey * (1 - share));
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

// A css colour of this file as an ImageData holds it.
export function pixelOf(css, opacity = 1) {
  const part = (at) => parseInt(css.slice(at, at + 2), 16);
  const alpha = Math.round((css.length > 7 ? part(7) : 255) * opacity);
  return ((alpha << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0;
}

// Drawing order: what stands out comes last, on top.
export function drawingOrder({ kind }, values) {
  const order = Uint32Array.from(values.keys());
  if (kind === "categories") return order;
  const weight = (i) => (Number.isNaN(values[i]) ? -Infinity : kind === "signed" ? Math.abs(values[i]) : values[i]);
  return order.sort((a, b) => weight(a) - weight(b));
}
