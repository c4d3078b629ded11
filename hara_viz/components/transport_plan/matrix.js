// The matrix as a small bitmap, one pixel a cell, that is scaled onto the canvas. It is made anew only
// when the view or the theme changes, so that pointing around costs nothing even at 16,384 × 64.

import { pixelOf } from "../shared/view.js";

// Shares in [0, 1] -> colours, on a root scale, so that a tenth of the mass can still be seen.
export function shareColours(dark) {
  const [from, to] = dark ? [[24, 30, 42], [122, 190, 255]] : [[236, 242, 250], [21, 74, 150]];
  const table = new Uint8ClampedArray(256 * 4);
  for (let i = 0; i < 256; i++) {
    const depth = Math.sqrt(i / 255);
    for (let c = 0; c < 3; c++) table[4 * i + c] = Math.round(from[c] + (to[c] - from[c]) * depth);
    table[4 * i + 3] = i ? 255 : 0; // nothing flows: the ground shows
  }
  return table;
}

// Which tokens stand in each column of the bitmap, and where it is drawn: {first, perColumn, count,
// x, width}. Where several tokens share a pixel they share a column.
export function columnsOf(view, tokens, width) {
  if (view.per >= 1) {
    const first = Math.floor(view.from);
    const last = Math.min(tokens, Math.ceil(view.from + width / view.per));
    const count = Math.max(0, last - first);
    return { first, perColumn: 1, count, x: pixelOf(view, first), width: count * view.per };
  }
  const count = Math.max(0, Math.min(Math.ceil(width), Math.floor(pixelOf(view, tokens))));
  return { first: view.from, perColumn: 1 / view.per, count, x: 0, width: count };
}

// Levels 0 … 255 [atoms × columns], the largest share of a column, so that a lone token is not
// averaged away.
export function levelsOf(frame, columns) {
  const n = frame.atoms.length;
  const levels = new Uint8Array(n * columns.count);
  const most = new Uint16Array(n);
  for (let c = 0; c < columns.count; c++) {
    const from = Math.floor(columns.first + c * columns.perColumn);
    const next = Math.floor(columns.first + (c + 1) * columns.perColumn);
    const to = Math.min(frame.tokens, Math.max(from + 1, next));
    most.fill(0);
    for (let t = from, at = from * n; t < to; t++)
      for (let a = 0; a < n; a++, at++) if (frame.shares[at] > most[a]) most[a] = frame.shares[at];
    for (let a = 0; a < n; a++) levels[a * columns.count + c] = most[a] >> 8;
  }
  return levels;
}

export class MatrixBitmap {
  // {image: a canvas, columns}, or null when nothing is in sight.
  of(frame, view, width, dark) {
    const key = [frame.content, view.from, view.per, width, dark].join();
    if (key !== this.key) {
      this.key = key;
      this.made = bitmapOf(frame, columnsOf(view, frame.tokens, width), shareColours(dark));
    }
    return this.made;
  }
}

function bitmapOf(frame, columns, colours) {
  const rows = frame.atoms.length;
  if (!columns.count || !rows) return null;
  const levels = levelsOf(frame, columns);
  const image = document.createElement("canvas");
  image.width = columns.count;
  image.height = rows;
  const pen = image.getContext("2d");
  const pixels = pen.createImageData(columns.count, rows);
  for (let i = 0; i < levels.length; i++)
    for (let c = 0; c < 4; c++) pixels.data[4 * i + c] = colours[4 * levels[i] + c];
  pen.putImageData(pixels, 0, 0);
  return { image, columns };
}
