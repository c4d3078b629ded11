// Colours of points. Scales keep their order in lightness, away from the page's own colour, so that
// every point can be seen; blue and orange carry sign and outcome.

const RAMPS = {
  light: {
    sequential: ["#c3d0e2", "#8fb4da", "#4583c4", "#1d4f96", "#0a2452"],
    signed: ["#134b91", "#6ea5dd", "#c6ccd5", "#f0a868", "#a84f07"],
  },
  dark: {
    sequential: ["#33415a", "#34659e", "#4d97dc", "#93c9f7", "#eaf6ff"],
    signed: ["#8cc2fb", "#3b73ae", "#4d5563", "#b06f2c", "#ffb871"],
  },
};
const KNOWN = { right: "#3b82c4", wrong: "#dd7a2b", unscored: "#8a8f98" };
const CATEGORIES = [
  "#3b82c4", "#dd7a2b", "#2f9e76", "#c45fa0", "#b39a1e", "#6a5acd", "#20a4b5", "#c4453b",
  "#7a8b2c", "#8d6e63", "#5677fc", "#e58fb1", "#4f9d3b", "#a05ad0", "#d0a15a", "#607d8b",
];

export const UNKNOWN = "#8a8f9880";

// {of(value) -> css, css: the ramp or the categories' colours}
export function pointColours({ kind, domain, categories }, dark) {
  if (kind === "categories") {
    const css = categories.map((name, i) => KNOWN[name] ?? CATEGORIES[i % CATEGORIES.length]);
    return { css, of: (value) => (Number.isNaN(value) ? UNKNOWN : (css[value] ?? UNKNOWN)) };
  }
  const css = rampOf(RAMPS[dark ? "dark" : "light"][kind]);
  const [low, high] = domain;
  const width = high - low || 1;
  const place = (value) => Math.max(0, Math.min(255, Math.round((255 * (value - low)) / width)));
  return { css, of: (value) => (Number.isNaN(value) ? UNKNOWN : css[place(value)]) };
}

function rampOf(stops) {
  const parts = stops.map((hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)));
  return Array.from({ length: 256 }, (_, i) => {
    const at = (i / 255) * (parts.length - 1);
    const below = Math.min(Math.floor(at), parts.length - 2);
    const mixed = parts[below].map((c, k) => Math.round(c + (parts[below + 1][k] - c) * (at - below)));
    return `rgb(${mixed.join(",")})`;
  });
}

// Drawing order: what stands out comes last, on top.
export function drawingOrder({ kind }, values) {
  const order = Uint32Array.from(values.keys());
  if (kind === "categories") return order;
  const weight = (i) => (Number.isNaN(values[i]) ? -Infinity : kind === "signed" ? Math.abs(values[i]) : values[i]);
  return order.sort((a, b) => weight(a) - weight(b));
}
