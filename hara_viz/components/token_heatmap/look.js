// What the page looks like, and the colours of a view on it.

import { colourScale, isDark } from "./colour.js";
import { autoDomain, levelValues, signalOf } from "./values.js";

export function themeOf(root) {
  const style = getComputedStyle(root);
  const property = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  return {
    dark: isDark(property("--st-background-color", "#ffffff")),
    ink: style.color,
    line: property("--st-border-color", "#cccccc"),
  };
}

// {values, scale} of the fill, {lineValues, lineScale} of the underline (null without one).
export function coloursOf(frame, { signal, underline, granularity, bounds }, { dark }) {
  const scaleOf = (name, domain, isLine) =>
    colourScale(domain, signalOf(frame, name).signed, dark, isLine);
  const domainOf = (name) => autoDomain(frame, name, granularity);
  return {
    values: levelValues(frame, signal, granularity),
    scale: scaleOf(signal, bounds ?? domainOf(signal), false),
    lineValues: underline && levelValues(frame, underline, granularity),
    lineScale: underline && scaleOf(underline, domainOf(underline), true),
  };
}

// Measures text as the list shows it; also the height of its lines.
export function measurerOf(list) {
  const style = getComputedStyle(list);
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const lineHeight = Math.round(parseFloat(style.fontSize) * 1.65);
  return {
    lineHeight,
    gap: Math.round(lineHeight * 0.4),
    width: (text) => pen.measureText(text).width,
  };
}
