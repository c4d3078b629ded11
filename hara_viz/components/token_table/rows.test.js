import assert from "node:assert/strict";
import { test } from "node:test";

import { isIn, litRows, orderOf } from "./rows.js";

const ROWS = [
  { cells: [["2", 2], ["b", "b"]], spots: [[0, 3, 5]] },
  { cells: [["–", null], ["a", "a"]], spots: [[1, 3, 4], [0, 9, 10]] },
  { cells: [["1", 1], ["é", "é"]], spots: [] },
  { cells: [["2", 2], ["z", "z"]], spots: [[0, 4, 9]] },
];

test("a token lights every row with a spot that holds it", () => {
  assert.deepEqual(litRows(ROWS, { sample: 0, token: 4 }), [0, 3]);
  assert.deepEqual(litRows(ROWS, { sample: 0, token: 9 }), [1]);
  assert.deepEqual(litRows(ROWS, { sample: 1, token: 4 }), []);
});

test("a rollout without a token lights nothing", () => {
  for (const token of [null, undefined]) assert.deepEqual(litRows(ROWS, { sample: 0, token }), []);
  assert.equal(isIn([null, 0, 1], { sample: null, token: null }), false);
});

test("rows are ordered by a column, the unknown last either way, equals as they were", () => {
  assert.deepEqual(orderOf(ROWS, 0, 1), [2, 0, 3, 1]);
  assert.deepEqual(orderOf(ROWS, 0, -1), [0, 3, 2, 1]);
  assert.deepEqual(orderOf(ROWS, 0, 0), [0, 1, 2, 3]);
});

test("text is ordered as a reader expects", () => {
  assert.deepEqual(orderOf(ROWS, 1, 1), [1, 0, 2, 3], "é before z");
});
