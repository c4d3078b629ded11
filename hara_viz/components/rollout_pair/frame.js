// Bytes of a pair -> typed arrays; the layout is described in frame.py. And the composed plan, a row
// at a time: the whole of it may not fit.

import { readCells } from "../shared/cells.js";
import { BlockReader, demand, guarded, isCount, openEnvelope } from "../shared/envelope.js";

const FULL = 65535;

export function parsePair(bytes) {
  return guarded(() => {
    const { header, body } = openEnvelope(bytes, "HARAPAIR", 1);
    const { points } = header;
    demand(isCount(points) && Array.isArray(header.sides) && header.sides.length === 2, "it is no pair");
    const blocks = new BlockReader(body);
    const sides = header.sides.map((side) => readSide(side, points, blocks));
    blocks.end();
    for (const side of sides) side.received = receivedBy(side, points);
    return { content: String(header.content), points, sides };
  });
}

function readSide({ sample, success, tokens, cells }, points, blocks) {
  demand(isCount(sample) && isCount(tokens), "a rollout has no length");
  return {
    sample,
    success,
    tokens,
    cells: readCells(cells, tokens),
    shares: blocks.take(Uint16Array, tokens * points),
    own: blocks.take(Uint8Array, tokens),
    gaps: blocks.take(Float32Array, tokens),
  };
}

// What each point receives from a rollout.
function receivedBy({ tokens, shares }, points) {
  const received = new Float64Array(points);
  for (let t = 0, at = 0; t < tokens; t++)
    for (let k = 0; k < points; k++, at++) received[k] += shares[at];
  return received;
}

// Shares of a token of one side among the tokens of the other; they sum to 1. `from`: 0 or 1.
export function counterparts(frame, from, token) {
  const { points, sides } = frame;
  const [own, other] = [sides[from], sides[1 - from]];
  const row = new Float64Array(points);
  let total = 0;
  for (let k = 0; k < points; k++) {
    const share = other.received[k] > 0 ? own.shares[token * points + k] : 0;
    total += share;
    row[k] = share && share / other.received[k];
  }
  const found = new Float32Array(other.tokens);
  if (!total) return found;
  for (let t = 0, at = 0; t < other.tokens; t++) {
    let sum = 0;
    for (let k = 0; k < points; k++, at++) sum += row[k] * other.shares[at];
    found[t] = sum / total;
  }
  return found;
}

// The tokens with the largest shares, largest first.
export function best(shares, count = 3) {
  return Array.from(shares.keys())
    .sort((a, b) => shares[b] - shares[a])
    .slice(0, count)
    .filter((token) => shares[token] > 0.01);
}

// [low, high] of both sides' gaps: one scale for both.
export function gapDomain({ sides }) {
  const known = sides.flatMap(({ gaps }) => Array.from(gaps).filter(Number.isFinite));
  if (!known.length) return [0, 1];
  known.sort((a, b) => a - b);
  const low = known[Math.floor(0.02 * (known.length - 1))];
  const high = known[Math.floor(0.98 * (known.length - 1))];
  return high > low ? [low, high] : [0, Math.max(high, 1e-6)];
}

export const FULL_SHARE = FULL;
