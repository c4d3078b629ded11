// Numbers as the card writes them; null is unknown.

// Three digits that tell: 0.0123, 4.56, 1.20e-7.
export function figure(value) {
  if (value === null || value === undefined) return "–";
  const small = value !== 0 && Math.abs(value) < 1e-4;
  const text = small ? value.toExponential(2) : String(Number(value.toPrecision(3)));
  return text.replaceAll("-", "−");
}

export function percent(share) {
  return share === null || share === undefined ? "–" : `${Math.round(100 * share)} %`;
}
