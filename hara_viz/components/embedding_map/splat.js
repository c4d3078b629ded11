// Many points at once, written as pixels: a canvas call for each would take ten times as long.

// Squares of 2 half + 1 pixels around (x, y), in that order, later ones on top. A pixel of `edge` is
// left around them where nothing else is, so that pale points can be seen on a pale page.
// `pixels`: Uint32Array [width * height], zero = nothing there.
export function splat(pixels, width, height, points, half, edge) {
  const { n, x, y, tint } = points;
  const reach = half + 1;
  for (let k = 0; k < n; k++) {
    const left = x[k] - reach;
    const top = y[k] - reach;
    const last = 2 * reach;
    if (left + last < 0 || top + last < 0 || left >= width || top >= height) continue;
    for (let dy = 0; dy <= last; dy++) {
      const row = top + dy;
      if (row < 0 || row >= height) continue;
      const isRim = dy === 0 || dy === last;
      for (let dx = 0; dx <= last; dx++) {
        const column = left + dx;
        if (column < 0 || column >= width) continue;
        const at = row * width + column;
        if (!isRim && dx > 0 && dx < last) pixels[at] = tint[k];
        else if (pixels[at] === 0) pixels[at] = edge;
      }
    }
  }
}
