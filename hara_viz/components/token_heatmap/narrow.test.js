import assert from "node:assert/strict";
import { test } from "node:test";

import { firstWithin, isShown, lassoIn } from "./narrow.js";

// Two rollouts of three tokens; the second one's last two share a cell.
const FRAME = {
  rows: [
    { sample: 4, token0: 0, tokens: 3 },
    { sample: 7, token0: 3, tokens: 3 },
  ],
  nCells: 5,
  firstToken: Uint32Array.from([0, 1, 2, 3, 4, 6]),
};
const NONE = { samples: new Set(), cells: new Set() };
const shown = (view, lasso = NONE) =>
  FRAME.rows.filter((row) => isShown({ view, lasso }, row)).map(({ sample }) => sample);

test("all are shown until a filter or a lasso says otherwise", () => {
  assert.deepEqual(shown({ sample: null, among: [] }), [4, 7]);
  assert.deepEqual(shown({ sample: null, among: [7] }), [7]);
  assert.deepEqual(shown({ sample: null, among: [7] }, lassoIn(FRAME, [[4, 0, 1]])), [4]);
});

test("the selected rollout is shown whatever the filter says", () => {
  assert.deepEqual(shown({ sample: 4, among: [7] }), [4, 7]);
  assert.deepEqual(shown({ sample: 4, among: [] }, lassoIn(FRAME, [[7, 0, 1]])), [4, 7]);
});

test("a lasso marks the cells of its tokens", () => {
  assert.deepEqual([...lassoIn(FRAME, [[4, 1, 3], [7, 2, 3]]).cells], [1, 2, 4]);
});

test("what the frame does not hold is left out", () => {
  const foreign = [[5, 0, 1], [4, 2, 4], [4, -1, 1], [4, 1, 1], ["4", 0, 1], [7, NaN, 2]];
  assert.deepEqual(lassoIn(FRAME, foreign), NONE);
});

test("the first lassoed cell of a row", () => {
  const { cells } = lassoIn(FRAME, [[7, 1, 2], [4, 2, 3], [4, 1, 2]]);
  assert.equal(firstWithin(cells, { cell0: 0, cells: 3 }), 1);
  assert.equal(firstWithin(cells, { cell0: 3, cells: 2 }), 4);
  assert.equal(firstWithin(cells, { cell0: 5, cells: 9 }), null);
});
