// A rollout's display cells, as cells.py cuts them: which cell holds a token, and text around it.

import { demand, isCount } from "./envelope.js";

export function readCells(list, tokens) {
  demand(Array.isArray(list), "a rollout has no cells");
  const first = new Uint32Array(list.length + 1);
  const texts = list.map(([text, count], i) => {
    demand(isCount(count) && count > 0, "a cell has no tokens");
    first[i + 1] = first[i] + count;
    return String(text);
  });
  demand(first[list.length] === tokens, `its cells hold ${first[list.length]} tokens, not ${tokens}`);
  return { texts, first, special: list.map((cell) => Boolean(cell[2])) };
}

// The cell that holds a token.
export function cellAt({ first }, token) {
  let low = 0;
  let high = first.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (first[middle] <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Text before, of and after tokens [from, to): `around` cells on either side.
export function excerpt(cells, from, to = from + 1, around = 8) {
  if (!cells.texts.length) return { before: "", inside: "", after: "" };
  const start = cellAt(cells, from);
  const stop = cellAt(cells, Math.max(from, to - 1)) + 1;
  return {
    before: visible(cells.texts.slice(Math.max(0, start - around), start).join("")),
    inside: visible(shorten(cells.texts.slice(start, stop).join(""))),
    after: visible(cells.texts.slice(stop, stop + around).join("")),
  };
}

function shorten(text) {
  return text.length > 160 ? `${text.slice(0, 157)}…` : text;
}

// Line ends and tabs made visible.
export function visible(text) {
  return text.replaceAll("\n", "⏎").replaceAll("\t", "⇥");
}
