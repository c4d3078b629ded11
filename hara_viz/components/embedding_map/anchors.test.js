import assert from "node:assert/strict";
import { test } from "node:test";

import { anchorsByPoint, numbersText } from "./anchors.js";

test("anchors that share a point are named together, in order", () => {
  const found = anchorsByPoint([
    { point: 4, number: 2 },
    { point: 1, number: 0 },
    { point: 4, number: 1 },
  ]);
  assert.deepEqual([...found], [[4, [1, 2]], [1, [0]]]);
});

test("a run of numbers is written by its ends, others one by one", () => {
  assert.deepEqual([[3], [3, 4], [3, 4, 5], [3, 5, 6]].map(numbersText), ["3", "3, 4", "3–5", "3, 5, 6"]);
});
