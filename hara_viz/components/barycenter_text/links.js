// Where links run between the two lists, and how strong they look. Pure.

// How far apart a link's atoms are against the others', in [0, 1]: 1 is the largest gap.
export function strength(links, gap) {
  const gaps = links.map((link) => link.gap);
  const low = Math.min(...gaps);
  const high = Math.max(...gaps);
  return high > low ? (gap - low) / (high - low) : 0;
}

// An SVG path from (0, y0) to (width, y1).
export function pathOf(y0, y1, width) {
  const bend = width / 2;
  return `M0,${y0.toFixed(1)}C${bend},${y0.toFixed(1)} ${bend},${y1.toFixed(1)} ${width},${y1.toFixed(1)}`;
}

// The widest gaps, in reading order: where the outcomes part most.
export function partings(links, count = 3) {
  return [...links]
    .sort((a, b) => b.gap - a.gap)
    .slice(0, count)
    .sort((a, b) => a.first - b.first);
}
