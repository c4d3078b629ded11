// Bytes of a plan -> typed arrays; the layout is described in frame.py.

import { readCells } from "../shared/cells.js";
import { BlockReader, demand, guarded, isCount, openEnvelope } from "../shared/envelope.js";

const FULL = 65535;

export function parsePlan(bytes) {
  return guarded(() => readPlan(bytes));
}

function readPlan(bytes) {
  const { header, body } = openEnvelope(bytes, "HARAPLAN", 2);
  const { tokens } = header;
  demand(isCount(header.sample) && isCount(tokens), "the rollout has no length");
  demand(Array.isArray(header.atoms), "its header lacks atoms");
  const atoms = header.atoms.map(([name, location, mass, spread, text]) => {
    demand(isCount(name) && Number.isFinite(location), "an atom has no place");
    return { name, location, mass, spread, text: String(text) };
  });
  const cells = readCells(header.cells, tokens);
  const steps = header.steps ?? null;
  demand(
    Array.isArray(steps) && steps.every((t, i) => isCount(t) && t < tokens && (!i || t > steps[i - 1])),
    "its sentences are out of order",
  );
  const blocks = new BlockReader(body);
  const frame = {
    content: String(header.content),
    sample: header.sample,
    success: header.success,
    tokens,
    atoms,
    cells,
    steps,
    shares: blocks.take(Uint16Array, tokens * atoms.length),
    own: blocks.take(Uint8Array, tokens),
    feature: blocks.take(Float32Array, tokens),
    structure: blocks.take(Float32Array, tokens),
  };
  blocks.end();
  return frame;
}

// Share in [0, 1] of a token's mass that flows into an atom (by its place in reading order).
export function shareOf(frame, token, atom) {
  return frame.shares[token * frame.atoms.length + atom] / FULL;
}

export function costOf(frame, token) {
  return frame.feature[token] + frame.structure[token];
}

// The parts of a cost by name, for whoever colours by them.
export const PARTS = {
  cost: costOf,
  feature: (frame, token) => frame.feature[token],
  structure: (frame, token) => frame.structure[token],
};

// The atoms that take most of a token, largest first.
export function topAtoms(frame, token, count = 3) {
  if (!frame.own[token]) return [];
  const shares = frame.atoms.map((_, atom) => ({ atom, share: shareOf(frame, token, atom) }));
  return shares
    .sort((a, b) => b.share - a.share)
    .slice(0, count)
    .filter(({ share }) => share > 0.005);
}

// The atom in the middle of a token's mass, for a word that is scrolled to.
export function mainAtom(frame, token) {
  return topAtoms(frame, token, 1)[0]?.atom ?? null;
}

// [low, high] of the costs: 0 to their 98 % quantile, so that one outlier does not wash out the rest.
export function costDomain(frame, part = "cost") {
  const known = Array.from(frame.own.keys())
    .filter((t) => frame.own[t])
    .map((t) => PARTS[part](frame, t))
    .sort((a, b) => a - b);
  if (!known.length) return [0, 1];
  const high = known[Math.floor(0.98 * (known.length - 1))];
  return [0, high > 0 ? high : 1];
}
