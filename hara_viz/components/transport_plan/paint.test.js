import assert from "node:assert/strict";
import { test } from "node:test";

import { fitted } from "../shared/view.js";
import { costDomain, topAtoms } from "./frame.js";
import { atomAt, boxesOf } from "./paint.js";

test("every atom can be pointed at, and nothing beside the matrix", () => {
  for (const n of [1, 8, 64]) {
    const boxes = boxesOf(n, fitted(100, 600));
    for (let a = 0; a < n; a++)
      assert.equal(atomAt(boxes, boxes.top + (a + 0.5) * boxes.rowHeight, n), a);
    assert.equal(atomAt(boxes, boxes.top - 1, n), null);
    assert.equal(atomAt(boxes, boxes.bottom + 1, n), null);
    assert.ok(boxes.height <= 480, `${n} atoms: ${boxes.height} pixels`);
  }
});

test("words stand above the columns once they have room", () => {
  assert.equal(boxesOf(8, fitted(30, 600)).withWords, true);
  assert.equal(boxesOf(8, fitted(3000, 600)).withWords, false);
});

const FRAME = {
  atoms: [{}, {}, {}],
  own: Uint8Array.from([1, 0]),
  shares: Uint16Array.from([13107, 52428, 0, 0, 0, 0]),
  feature: Float32Array.from([0.5, NaN]),
  structure: Float32Array.from([0.25, NaN]),
};

test("a token's atoms come largest first, without those that get nothing", () => {
  const found = topAtoms(FRAME, 0);
  assert.deepEqual(found.map(({ atom }) => atom), [1, 0]);
  assert.ok(Math.abs(found[0].share - 0.8) < 1e-4);
  assert.deepEqual(topAtoms(FRAME, 1), []);
});

test("costs of tokens that were not sampled do not count", () => {
  assert.deepEqual(costDomain(FRAME), [0, 0.75]);
  assert.deepEqual(costDomain({ ...FRAME, own: Uint8Array.from([0, 0]) }), [0, 1]);
});
