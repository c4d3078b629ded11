import assert from "node:assert/strict";
import { test } from "node:test";

import { between, eased, joined } from "./slices.js";
import { samePlaces } from "./frame.js";
import { bend, pathColour, waysOf } from "./paths.js";

const places = (...pairs) => ({ x: Float32Array.from(pairs, ([x]) => x), y: Float32Array.from(pairs, ([, y]) => y) });

test("points wander straight from one map to the next", () => {
  const [from, to] = [places([0, 2], [4, -4]), places([8, 0], [4, 4])];
  assert.deepEqual(between(from, to, 0), from);
  assert.deepEqual(between(from, to, 1), to);
  assert.deepEqual(between(from, to, 0.25), places([2, 1.5], [4, -2]));
});

test("a way begins and ends at rest", () => {
  assert.deepEqual([0, 0.5, 1].map(eased), [0, 0.5, 1]);
  assert.ok(eased(0.01) < 0.001 && eased(0.99) > 0.999);
});

test("one extent holds all maps", () => {
  const extents = [{ left: 0, right: 3, low: -1, high: 1 }, { left: -2, right: 1, low: 0, high: 5 }];
  assert.deepEqual(joined(extents), { left: -2, right: 3, low: -1, high: 5 });
});

test("a rollout's way follows its points, the lit point's way follows the maps", () => {
  const slices = [places([0, 0], [1, 1]), places([5, 5], [7, 6])];
  const frame = { ...places([5, 5], [7, 6]), slices };
  const [own, lit] = waysOf(frame, [{ rollout: { sample: 9 }, points: [1, 0] }], 1, "ink");
  assert.deepEqual(own, { places: [[7, 6], [5, 5]], colour: pathColour(0), number: 9 });
  assert.deepEqual(lit, { places: [[1, 1], [7, 6]], colour: "ink", number: null });
  assert.deepEqual(waysOf({ ...frame, slices: [] }, [], 1, "ink"), []);
});

test("points that wandered are still the same points", () => {
  const slices = [places([0, 0]), places([5, 5])];
  const frame = (at, now, name = "a") => ({ name, n: 1, slices, slice: at, ...now });
  assert.ok(samePlaces(frame(0, places([2, 2])), frame(0, slices[0])));
  assert.ok(!samePlaces(frame(0, slices[0], "b"), frame(0, slices[0])));
  const moved = { ...frame(0, slices[0]), slices: [places([0, 1]), slices[1]] };
  assert.ok(!samePlaces(frame(0, slices[0]), moved));
});

test("steps there and back, and of ways side by side, are lines of their own", () => {
  const [a, b] = [[0, 0], [100, 0]];
  assert.deepEqual(bend(a, b, 0), [50, 5]);
  assert.deepEqual(bend(b, a, 0), [50, -5]);
  assert.deepEqual(bend(a, b, 2), [50, 13]);
  assert.deepEqual(bend(a, a, 3), a);
});
