// Bytes of a map -> typed arrays; the layout is described in frame.py.

import { readCells } from "../shared/cells.js";
import { BlockReader, demand, guarded, isCount, openEnvelope } from "../shared/envelope.js";

const KINDS = ["sequential", "signed", "categories"];

export function parseMap(bytes) {
  return guarded(() => readMap(bytes));
}

function readMap(bytes) {
  const { header, body } = openEnvelope(bytes, "HARAEMBD", 2);
  const { points, atoms, colour } = header;
  demand(isCount(points) && isCount(atoms), "it does not say how many points it has");
  demand(KINDS.includes(colour?.kind), "its colours are of no known kind");
  const rollouts = header.rollouts.map(({ sample, success, tokens, cells, group, here }) => {
    demand(isCount(sample) && isCount(tokens), "a rollout has no length");
    return { sample, success, tokens, cells: readCells(cells, tokens), group: String(group), here: Boolean(here) };
  });
  demand(header.atom_labels.length === atoms, "an atom has no label");
  const blocks = new BlockReader(body);
  const frame = {
    content: String(header.content),
    name: String(header.name),
    n: points,
    rollouts,
    colour,
    x: blocks.take(Float32Array, points),
    y: blocks.take(Float32Array, points),
    row: blocks.take(Uint32Array, points),
    token: blocks.take(Uint32Array, points),
    span: blocks.take(Uint32Array, points),
    value: blocks.take(Float32Array, points),
  };
  const atomX = blocks.take(Float32Array, atoms);
  const atomY = blocks.take(Float32Array, atoms);
  blocks.end();
  frame.atoms = header.atom_labels.map(([success, name, text], i) => {
    return { success, name, text: String(text), x: atomX[i], y: atomY[i] };
  });
  for (let i = 0; i < points; i++) {
    demand(frame.row[i] < rollouts.length, "a point names a rollout that is not there");
    const end = frame.token[i] + frame.span[i];
    demand(frame.span[i] > 0 && end <= rollouts[frame.row[i]].tokens, "a point has no text");
  }
  return frame;
}

// The point that stands for a token of a rollout, or null: it may not be among the points shown.
export function pointOf(frame, sample, token) {
  if (sample === null || token === null) return null;
  for (let i = 0; i < frame.n; i++) {
    const inside = frame.token[i] <= token && token < frame.token[i] + frame.span[i];
    if (inside && isOf(frame, i, sample)) return i;
  }
  return null;
}

// Of this rollout of the selected group? Other groups have samples of the same number.
function isOf(frame, point, sample) {
  const rollout = frame.rollouts[frame.row[point]];
  return rollout.here && rollout.sample === sample;
}

// Points of a rollout in the order of its text.
export function pathOf(frame, sample) {
  const found = [];
  for (let i = 0; i < frame.n; i++)
    if (isOf(frame, i, sample)) found.push(i);
  return found.sort((a, b) => frame.token[a] - frame.token[b]);
}

// Do two frames show the same points? (Colours may differ.)
export function samePlaces(a, b) {
  if (a.name !== b.name || a.n !== b.n) return false;
  for (let i = 0; i < a.n; i++) if (a.x[i] !== b.x[i] || a.y[i] !== b.y[i]) return false;
  return true;
}
