// Bytes of a group -> typed arrays. The layout is described in frame.py; every claim of the header
// is checked here too, because a damaged frame must end in a sentence, not in a blank page.

import { BlockReader, demand, guarded, isCount, openEnvelope } from "../shared/envelope.js";

const MANY_KINDS = 65536;

export function parseFrame(bytes) {
  const { header, body } = openEnvelope(bytes, "HARAHEAT", 2);
  return guarded(() => readFrame(header, new BlockReader(body)));
}

function readFrame(header, blocks) {
  for (const list of ["channels", "kinds", "rows", "signals", "offers"]) {
    demand(Array.isArray(header[list]), `its header lacks ${list}`);
  }
  const kinds = header.kinds.map(readKind);
  const rows = placeRows(header.rows.map(readRow));
  const nCells = sum(rows.map((row) => row.cells));
  const nTokens = sum(rows.map((row) => row.tokens));
  const cells = blocks.take(kinds.length > MANY_KINDS ? Uint32Array : Uint16Array, nCells);
  const channels = new Map();
  for (const { name, scale } of header.channels) {
    demand(scale > 0 && Number.isFinite(scale), `channel ${name} has no scale`);
    channels.set(String(name), { bits: blocks.take(Uint16Array, nTokens), scale });
  }
  blocks.end();
  const firstToken = firstTokens(cells, kinds, rows);
  for (const signal of [...header.signals, ...header.offers]) {
    demand(Array.isArray(signal.terms), `signal ${signal.name} has no terms`);
  }
  for (const signal of header.signals) {
    const lacking = channelsOf(signal).find((channel) => !channels.has(channel));
    demand(lacking === undefined, `signal ${signal.name} needs channel ${lacking}`);
  }
  return {
    content: String(header.content),
    rows,
    kinds,
    cells,
    firstToken,
    channels,
    signals: header.signals,
    domains: header.domains ?? {}, // level -> signal -> [low, high], shared with other frames
    offers: header.offers, // signals that can be asked for; `locked` says why not now
    nCells,
    nTokens,
    cache: new Map(),
  };
}

// The channels that a signal is made of.
export function channelsOf(signal) {
  return signal.terms.map(([, channel]) => channel).filter((channel) => channel !== null);
}

function readKind(kind) {
  demand(
    Array.isArray(kind) && Array.isArray(kind[1]) && kind[1].length > 0,
    "a cell has no tokens",
  );
  const [text, ids, special, raw] = kind;
  return { text: String(text), ids, special: Boolean(special), raw: raw ?? null };
}

function readRow(row) {
  demand(
    isCount(row.sample) && isCount(row.cells) && isCount(row.tokens),
    "a rollout has no length",
  );
  const ranges = [...(row.think ?? []), ...(row.answer ? [row.answer] : [])];
  for (const [first, last] of ranges) {
    demand(
      isCount(first) && first <= last && last <= row.cells,
      `rollout ${row.sample}: a range is outside`,
    );
  }
  const steps = new Uint32Array(row.gaps ? row.gaps.length + 1 : 0); // the first begins at 0
  for (let i = 1; i < steps.length; i++) {
    demand(isCount(row.gaps[i - 1]) && row.gaps[i - 1] > 0, `rollout ${row.sample}: a step is empty`);
    steps[i] = steps[i - 1] + row.gaps[i - 1];
  }
  demand(
    !steps.length || steps.at(-1) < Math.max(row.tokens, 1),
    `rollout ${row.sample}: its steps lead outside`,
  );
  return { ...row, steps };
}

function placeRows(rows) {
  let cell = 0;
  let token = 0;
  for (const row of rows) {
    Object.assign(row, { cell0: cell, token0: token });
    cell += row.cells;
    token += row.tokens;
  }
  return rows;
}

// [C+1]: the first token (over the whole group) of each cell.
function firstTokens(cells, kinds, rows) {
  const first = new Uint32Array(cells.length + 1);
  for (let c = 0; c < cells.length; c++) {
    demand(cells[c] < kinds.length, "a cell names a kind that is not there");
    first[c + 1] = first[c] + kinds[cells[c]].ids.length;
  }
  for (const row of rows) {
    const held = first[row.cell0 + row.cells] - row.token0;
    demand(
      held === row.tokens,
      `rollout ${row.sample}: its cells hold ${held} tokens, not ${row.tokens}`,
    );
  }
  return first;
}

// The cell (over the whole group) that holds a token (over the whole group).
export function cellOfToken(frame, token) {
  let low = 0;
  let high = frame.nCells - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (frame.firstToken[middle] <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Do two frames show the same text, cell for cell? (The numbers may differ.)
export function sameText(a, b) {
  if (a.nCells !== b.nCells || a.kinds.length !== b.kinds.length) return false;
  if (a.rows.length !== b.rows.length) return false;
  const rowsAgree = a.rows.every((row, i) => {
    return row.sample === b.rows[i].sample && row.cells === b.rows[i].cells;
  });
  if (!rowsAgree || a.kinds.some((kind, i) => kind.text !== b.kinds[i].text)) return false;
  for (let c = 0; c < a.nCells; c++) if (a.cells[c] !== b.cells[c]) return false;
  return true;
}

function sum(numbers) {
  return numbers.reduce((a, b) => a + b, 0);
}
