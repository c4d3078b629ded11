// Bytes of a group -> typed arrays. The layout is described in frame.py; every claim of the header
// is checked here too, because a damaged frame must end in a sentence, not in a blank page.

const MAGIC = "HARAHEAT";
const VERSION = 1;
const MANY_KINDS = 65536;

export class FrameError extends Error {}

export function parseFrame(bytes) {
  try {
    return readFrame(bytes);
  } catch (error) {
    if (error instanceof FrameError) throw error;
    throw new FrameError(`its header is damaged (${error.message})`);
  }
}

function readFrame(bytes) {
  const { header, body } = openFrame(bytes);
  const kinds = header.kinds.map(readKind);
  const rows = placeRows(header.rows.map(readRow));
  const nCells = sum(rows.map((row) => row.cells));
  const nTokens = sum(rows.map((row) => row.tokens));
  const wide = kinds.length > MANY_KINDS;
  const cellBytes = padded(nCells * (wide ? 4 : 2));
  const channelBytes = padded(nTokens * 2);
  const expected = cellBytes + channelBytes * header.channels.length;
  demand(
    body.byteLength === expected,
    `it has ${body.byteLength} bytes after its header, not ${expected}`,
  );
  const cells = wide
    ? new Uint32Array(body.buffer, 0, nCells)
    : new Uint16Array(body.buffer, 0, nCells);
  const channels = new Map();
  header.channels.forEach((channel, i) => {
    demand(
      channel.scale > 0 && Number.isFinite(channel.scale),
      `channel ${channel.name} has no scale`,
    );
    const bits = new Uint16Array(body.buffer, cellBytes + i * channelBytes, nTokens);
    channels.set(String(channel.name), { bits, scale: channel.scale });
  });
  const firstToken = firstTokens(cells, kinds, rows);
  checkSignals(header.signals, channels);
  return {
    content: String(header.content),
    rows,
    kinds,
    cells,
    firstToken,
    channels,
    signals: header.signals,
    nCells,
    nTokens,
    cache: new Map(),
  };
}

// The body is copied to a buffer of its own, since typed arrays need aligned offsets.
function openFrame(bytes) {
  demand(bytes instanceof Uint8Array && bytes.length >= 16, "it is too short");
  demand(String.fromCharCode(...bytes.subarray(0, 8)) === MAGIC, `it does not begin with ${MAGIC}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(8, true);
  demand(version === VERSION, `it has version ${version}; this page reads ${VERSION}`);
  const length = view.getUint32(12, true);
  demand(16 + padded(length) <= bytes.length, "it ends within its header");
  let header = null;
  try {
    header = JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(16, 16 + length)),
    );
  } catch {
    throw new FrameError("its header is not JSON");
  }
  for (const list of ["channels", "kinds", "rows", "signals"]) {
    demand(Array.isArray(header?.[list]), `its header lacks ${list}`);
  }
  return { header, body: bytes.slice(16 + padded(length)) };
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
  const steps = Uint32Array.from(row.steps ?? []);
  for (let i = 0; i < steps.length; i++) {
    const rises = i === 0 ? steps[0] === 0 : steps[i] > steps[i - 1];
    demand(rises && steps[i] < row.tokens, `rollout ${row.sample}: its steps do not rise from 0`);
  }
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

function checkSignals(signals, channels) {
  for (const signal of signals) {
    demand(Array.isArray(signal.terms), `signal ${signal.name} has no terms`);
    for (const [, channel] of signal.terms) {
      demand(
        channel === null || channels.has(channel),
        `signal ${signal.name} needs channel ${channel}`,
      );
    }
  }
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

function demand(holds, why) {
  if (!holds) throw new FrameError(why);
}

function isCount(value) {
  return Number.isInteger(value) && value >= 0;
}

function padded(length) {
  return Math.ceil(length / 4) * 4;
}

function sum(numbers) {
  return numbers.reduce((a, b) => a + b, 0);
}
