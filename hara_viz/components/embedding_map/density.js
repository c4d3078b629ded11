// How many points lie where: counts in squares of the screen, unsmoothed, painted under the points.
// The squares are fixed to the map, so that they do not flicker while it is moved. Pure but for `pen`.

export const SIDE = 12; // pixels

// {columns, rows, left, top, counts [rows * columns], most}: what is on the screen.
export function densityOf({ frame, camera, width, height }) {
  const origin = [width / 2 - camera.x * camera.per, height / 2 + camera.y * camera.per];
  const [left, top] = origin.map((at) => (((at % SIDE) + SIDE) % SIDE) - SIDE);
  const columns = Math.ceil((width - left) / SIDE);
  const rows = Math.ceil((height - top) / SIDE);
  const counts = new Uint32Array(columns * rows);
  let most = 0;
  for (let i = 0; i < frame.n; i++) {
    const column = Math.floor((origin[0] + frame.x[i] * camera.per - left) / SIDE);
    const row = Math.floor((origin[1] - frame.y[i] * camera.per - top) / SIDE);
    if (!(column >= 0 && row >= 0 && column < columns && row < rows)) continue;
    most = Math.max(most, ++counts[row * columns + column]);
  }
  return { columns, rows, left, top, counts, most };
}

// Share of the scale in [0, 1]; logarithmic: clouds differ by orders of magnitude.
export function shadeOf(count, most) {
  return count < 1 ? 0 : Math.log1p(count) / Math.log1p(most);
}

// Opacity of the ink; one point is seen, and a point upon the fullest square still stands out.
export function opacityOf(count, most) {
  return count < 1 ? 0 : 0.06 + 0.5 * shadeOf(count, most);
}

export function paintDensity(pen, { columns, left, top, counts, most }, ink) {
  pen.fillStyle = ink;
  counts.forEach((count, at) => {
    if (!count) return;
    pen.globalAlpha = opacityOf(count, most);
    pen.fillRect(left + (at % columns) * SIDE, top + Math.floor(at / columns) * SIDE, SIDE, SIDE);
  });
  pen.globalAlpha = 1;
}

// Counts for the legend: one, the middle of the logarithmic scale, the fullest square on the screen.
export function legendCounts(most) {
  const middle = Math.round(Math.expm1(Math.log1p(most) / 2));
  return [...new Set([1, middle, most])].filter((count) => count > 0 && count <= most).sort((a, b) => a - b);
}
