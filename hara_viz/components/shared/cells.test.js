import assert from "node:assert/strict";
import { test } from "node:test";

import { cellAt, excerpt, readCells } from "./cells.js";
import { FrameError } from "./envelope.js";

const LIST = [
  ["There", 1, 0],
  [" are", 1, 0],
  ["\n家", 3, 0],
  ["<b>", 1, 0],
  ["<|end|>", 1, 1],
];

test("tokens that share a character share a cell", () => {
  const cells = readCells(LIST, 7);
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6].map((t) => cellAt(cells, t)), [0, 1, 2, 2, 2, 3, 4]);
  assert.deepEqual(cells.special, [false, false, false, false, true]);
});

test("an excerpt holds the text as it is, line ends made visible", () => {
  const cells = readCells(LIST, 7);
  assert.deepEqual(excerpt(cells, 3, 4, 1), { before: " are", inside: "⏎家", after: "<b>" });
  assert.deepEqual(excerpt(cells, 0, 7, 9), { before: "", inside: "There are⏎家<b><|end|>", after: "" });
  assert.deepEqual(excerpt(readCells([], 0), 0), { before: "", inside: "", after: "" });
});

test("cells that do not hold the tokens are refused", () => {
  assert.throws(() => readCells(LIST, 8), FrameError);
  assert.throws(() => readCells([["a", 0, 0]], 0), FrameError);
  assert.throws(() => readCells(null, 0), FrameError);
});
