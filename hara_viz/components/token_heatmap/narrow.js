// Which rollouts are shown: all of them, those that the selection is narrowed to (`among`), or those
// with a token in the lasso of a map beside; and always the selected one, for what is picked
// elsewhere must be seen here.

import { cellOfToken } from "./frame.js";

export function isShown({ view, lasso }, { sample }) {
  if (sample === view.sample) return true;
  if (lasso.samples.size) return lasso.samples.has(sample);
  return !view.among.length || view.among.includes(sample);
}

// A lasso, [[sample, first token, past the last], ...], as the rollouts and cells of a frame; what the
// frame does not hold is left out.
export function lassoIn(frame, tokens) {
  const [samples, cells] = [new Set(), new Set()];
  const rows = new Map(frame.rows.map((row) => [row.sample, row]));
  for (const [sample, first, stop] of tokens) {
    const row = rows.get(sample);
    if (!row || !(first >= 0 && first < stop && stop <= row.tokens)) continue;
    samples.add(sample);
    const last = cellOfToken(frame, row.token0 + stop - 1);
    for (let cell = cellOfToken(frame, row.token0 + first); cell <= last; cell++) cells.add(cell);
  }
  return { samples, cells };
}

// The first of these cells that is the row's, or null.
export function firstWithin(cells, { cell0, cells: count }) {
  let first = Infinity;
  for (const cell of cells) if (cell >= cell0 && cell < cell0 + count && cell < first) first = cell;
  return Number.isFinite(first) ? first : null;
}
