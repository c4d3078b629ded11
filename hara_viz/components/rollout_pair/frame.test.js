import assert from "node:assert/strict";
import { test } from "node:test";

import { best, counterparts, FULL_SHARE, gapDomain } from "./frame.js";

function side(rows, gaps) {
  const points = rows[0].length;
  const shares = Uint16Array.from(rows.flat().map((share) => Math.round(share * FULL_SHARE)));
  const received = Float64Array.from({ length: points }, (_, k) =>
    rows.reduce((sum, _row, t) => sum + shares[t * points + k], 0),
  );
  return { tokens: rows.length, shares, received, gaps: Float32Array.from(gaps) };
}

const FRAME = {
  points: 2,
  sides: [side([[1, 0], [0.5, 0.5], [0, 0]], [1, 2, NaN]), side([[0, 1], [1, 0], [1, 0]], [0, 3, 4])],
};

test("a token finds the tokens that flow into the same points", () => {
  const close = (got, wanted) => got.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) < 1e-4, got));
  close(counterparts(FRAME, 0, 0), [0, 0.5, 0.5]);
  close(counterparts(FRAME, 0, 1), [0.5, 0.25, 0.25]);
  close(counterparts(FRAME, 1, 0), [0, 1, 0]);
  close(counterparts(FRAME, 0, 2), [0, 0, 0]); // no mass of its own
});

test("the best counterparts come first, those without mass not at all", () => {
  assert.deepEqual(best(counterparts(FRAME, 0, 1), 1), [0]);
  assert.deepEqual(best(counterparts(FRAME, 0, 2)), []);
});

test("both sides share a scale, unknown gaps do not count", () => {
  const [low, high] = gapDomain(FRAME);
  assert.ok(low >= 0 && high <= 4 && low < high);
  assert.deepEqual(gapDomain({ sides: [{ gaps: [NaN] }] }), [0, 1]);
});
