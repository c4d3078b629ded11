import assert from "node:assert/strict";
import { test } from "node:test";

import { parseFrame } from "./frame.js";
import { bytesOf, sample } from "./sample_frame.js";
import { findAll } from "./search.js";

const frame = parseFrame(bytesOf(sample()));
const spans = (query) => findAll(frame, query).map(({ row, first, last }) => [row, first, last]);

test("text is found across tokens, whatever its case, in every rollout", () => {
  assert.deepEqual(spans("LO W"), [[0, 0, 1]]);
  assert.deepEqual(spans("Ö"), [[0, 2, 2]]);
  assert.deepEqual(spans("a b"), [[1, 5, 5]]);
  assert.deepEqual(spans("l"), [
    [0, 0, 0],
    [0, 0, 0],
    [0, 2, 2],
  ]);
});

test("nothing is found for nothing, nor what is not there", () => {
  assert.deepEqual(spans(""), []);
  assert.deepEqual(spans("<b>"), []);
});

test("hits end at the limit", () => {
  assert.equal(findAll(frame, "l", 2).length, 2);
});
