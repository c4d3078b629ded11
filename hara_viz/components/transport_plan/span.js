// A span of tokens [from, to) and where its mass goes. Pure.

import { costOf, shareOf } from "./frame.js";

const ALONE = 12; // tokens around a place, in a rollout that was not cut into sentences
const LEAST = 0.004; // shares below it are no ribbon

// Where a pointer is that points at nothing.
export const NOTHING = { token: null, atom: null };

export function spanOf(a, b) {
  return { from: Math.min(a, b), to: Math.max(a, b) + 1 };
}

// The sentences as spans: {from, to}.
export function sentences(frame) {
  const starts = frame.steps.length ? frame.steps : windows(frame.tokens);
  return starts
    .map((from, i) => ({ from, to: starts[i + 1] ?? frame.tokens }))
    .filter(({ from, to }) => to > from);
}

function windows(tokens) {
  return Array.from({ length: Math.ceil(tokens / ALONE) }, (_, i) => i * ALONE);
}

export function sentenceAt(frame, token) {
  return sentences(frame).find(({ from, to }) => from <= token && token < to) ?? null;
}

// The sentence whose tokens cost most on average: where a reader should look first.
export function dearestSentence(frame) {
  let best = null;
  let most = -Infinity;
  for (const span of sentences(frame)) {
    const own = tokensOf(frame, span);
    const mean = own.reduce((sum, token) => sum + costOf(frame, token), 0) / own.length;
    if (own.length && mean > most) [best, most] = [span, mean];
  }
  return best;
}

// The sentence before or after a span; at the ends it stays.
export function neighbour(frame, span, step) {
  const all = sentences(frame);
  const at = all.findIndex(({ from, to }) => from <= span.from && span.from < to);
  return all[Math.max(0, Math.min(all.length - 1, at + step))] ?? span;
}

// The policy's own tokens of a span.
export function tokensOf(frame, { from, to }) {
  const tokens = [];
  for (let t = from; t < to; t++) if (frame.own[t]) tokens.push(t);
  return tokens;
}

// Where ribbons run: tokens side by side above, atoms in reading order below, both as wide as their
// mass, so that what leaves above arrives below.
//   tokens [{token, x0, x1}], atoms [{atom, x0, x1, mass}], ribbons [{token, atom, share, top: [x0,
//   x1], bottom: [x0, x1]}]; mass in tokens.
export function ribbonLayout(frame, span, width) {
  const own = tokensOf(frame, span);
  const mass = frame.atoms.map((_, a) => own.reduce((sum, t) => sum + shareOf(frame, t, a), 0));
  const hit = mass.map((m, atom) => ({ atom, mass: m })).filter(({ mass: m }) => m > LEAST);
  const total = hit.reduce((sum, { mass: m }) => sum + m, 0);
  if (!own.length || !total) return { tokens: [], atoms: [], ribbons: [] };
  const gap = Math.min(10, (0.25 * width) / Math.max(1, hit.length - 1));
  const unit = (width - gap * (hit.length - 1)) / total;
  const atoms = placed(hit, gap, ({ mass: m }) => m * unit);
  const each = Math.min(unit, width / own.length);
  const space = own.length > 1 ? (width - own.length * each) / (own.length - 1) : 0;
  const tokens = placed(own.map((token) => ({ token })), space, () => each);
  const filled = new Map(atoms.map(({ atom, x0 }) => [atom, x0]));
  const ribbons = [];
  for (const { token, x0 } of tokens) {
    let x = x0;
    for (const { atom } of atoms) {
      const share = shareOf(frame, token, atom);
      if (share <= LEAST) continue;
      const at = filled.get(atom);
      ribbons.push({ token, atom, share, top: [x, x + share * each], bottom: [at, at + share * unit] });
      x += share * each;
      filled.set(atom, at + share * unit);
    }
  }
  return { tokens, atoms, ribbons };
}

function placed(items, gap, widthOf) {
  let x = 0;
  return items.map((item) => {
    const x0 = x;
    x += widthOf(item) + gap;
    return { ...item, x0, x1: x - gap };
  });
}

// The left edge (i = 0) or right edge (i = 1) of a ribbon at a depth in [0, 1].
export function edgeAt(ribbon, i, depth) {
  const s = depth * depth * (3 - 2 * depth);
  return ribbon.top[i] + (ribbon.bottom[i] - ribbon.top[i]) * s;
}

// The ribbon under a point; the narrowest of several.
export function ribbonAt(ribbons, x, depth) {
  const under = ribbons.filter((r) => edgeAt(r, 0, depth) - 1 <= x && x <= edgeAt(r, 1, depth) + 1);
  return under.sort((a, b) => a.share - b.share)[0] ?? null;
}
