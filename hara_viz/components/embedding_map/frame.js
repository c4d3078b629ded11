// Bytes of a map -> typed arrays; the layout is described in frame.py.

import { readCells } from "../shared/cells.js";
import { anchorsByPoint } from "./anchors.js";
import { BlockReader, demand, guarded, isCount, openEnvelope } from "../shared/envelope.js";

const KINDS = ["sequential", "signed", "categories"];

export function parseMap(bytes) {
  return guarded(() => readMap(bytes));
}

function readMap(bytes) {
  const { header, body } = openEnvelope(bytes, "HARAEMBD", 4);
  const { points, atoms, colour, slices, slice, paths, anchors } = header;
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
  demand(Array.isArray(slices) && slices.length !== 1, "it has a single slice");
  demand(isCount(slice) && slice < Math.max(1, slices.length), "it shows a slice first that it has not");
  demand(Array.isArray(paths), "it does not say which ways are drawn");
  for (const row of paths) demand(isCount(row) && row < rollouts.length, "a way is of no rollout");
  frame.paths = paths;
  demand(Array.isArray(anchors), "it does not say which anchors are marked");
  frame.anchors = anchors.map(([point, number]) => {
    demand(isCount(point) && point < points && isCount(number), "an anchor is on no point");
    return { point, number };
  });
  frame.anchored = anchorsByPoint(frame.anchors);
  frame.slice = slice;
  const atomX = blocks.take(Float32Array, atoms);
  const atomY = blocks.take(Float32Array, atoms);
  frame.slices = slices.map((name) => {
    const x = blocks.take(Float32Array, points);
    return { name: String(name), x, y: blocks.take(Float32Array, points) };
  });
  blocks.end();
  frame.atoms = header.atom_labels.map(([success, name, text, group], i) => {
    return { success, name, text: String(text), group: String(group), x: atomX[i], y: atomY[i] };
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

// Points of a rollout of the selected group in the order of its text.
export function pathOf(frame, sample) {
  return inOrder(frame, (i) => isOf(frame, i, sample));
}

// The ways that the frame asks for: [{rollout, points}], points in the order of the text.
export function pathsOf(frame) {
  return frame.paths.map((row) => {
    return { rollout: frame.rollouts[row], points: inOrder(frame, (i) => frame.row[i] === row) };
  });
}

function inOrder(frame, isIn) {
  const found = [];
  for (let i = 0; i < frame.n; i++) if (isIn(i)) found.push(i);
  return found.sort((a, b) => frame.token[a] - frame.token[b]);
}

// Do two frames show the same points? (Colours may differ.)
export function samePlaces(a, b) {
  if (a.name !== b.name || a.n !== b.n) return false;
  const [own, other] = [a, b].map((frame) => frame.slices[0] ?? frame); // x and y of a frame wander
  for (let i = 0; i < a.n; i++) if (own.x[i] !== other.x[i] || own.y[i] !== other.y[i]) return false;
  return true;
}
