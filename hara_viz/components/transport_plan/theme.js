// Colours of the page's theme, as the canvases need them.

import { isDark } from "../token_heatmap/colour.js";

export function themeOf(root) {
  const style = getComputedStyle(root);
  const property = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  const dark = isDark(property("--st-background-color", "#ffffff"));
  return {
    dark,
    ink: style.color,
    dim: property("--st-gray-color", dark ? "#a3a9b5" : "#5b6472"),
    line: property("--st-border-color", dark ? "#333a46" : "#dde1e8"),
    panel: property("--st-secondary-background-color", dark ? "#1d222b" : "#f1f3f6"),
    accent: property("--st-primary-color", dark ? "#7aa5ee" : "#2f5fb3"),
    feature: dark ? "#4d8fd6" : "#4a86c8",
    structure: dark ? "#d99a4e" : "#dc8f3c",
    font: style.fontFamily,
  };
}
