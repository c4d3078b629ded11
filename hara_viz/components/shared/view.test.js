import assert from "node:assert/strict";
import { test } from "node:test";

import { clamped, fitted, itemAt, panned, pixelOf, revealed, ticks, zoomed } from "./view.js";

test("a fitted view shows all items and nothing else", () => {
  const view = fitted(200, 600);
  assert.equal(itemAt(view, 0, 200), 0);
  assert.equal(itemAt(view, 599, 200), 199);
  assert.equal(itemAt(view, 601, 200), null);
});

test("what is under the pointer stays there when zooming", () => {
  const view = fitted(16384, 700);
  const closer = zoomed(view, 350, 8, 16384, 700);
  assert.ok(Math.abs(pixelOf(closer, view.from + 350 / view.per) - 350) < 1e-6);
  assert.deepEqual(zoomed(closer, 10, 1e-9, 16384, 700), view);
});

test("panning stops at both ends", () => {
  const closer = zoomed(fitted(100, 500), 250, 4, 100, 500);
  assert.equal(panned(closer, 1e6, 100, 500).from, 0);
  assert.equal(panned(closer, -1e6, 100, 500).from, 100 - 500 / closer.per);
});

test("an item out of sight is brought into it", () => {
  const closer = clamped({ from: 0, per: 20 }, 1000, 500);
  const moved = revealed(closer, 700, 1000, 500);
  const x = pixelOf(moved, 700);
  assert.ok(x >= 0 && x < 500);
  assert.equal(revealed(closer, 3, 1000, 500), closer);
});

test("ticks are round numbers, far enough apart", () => {
  for (const n of [5, 66, 2048, 16384]) {
    const view = fitted(n, 700);
    const marks = ticks(view, n, 700);
    assert.ok(marks.length >= 1 && marks.length <= 12, `${n}: ${marks}`);
    for (let i = 1; i < marks.length; i++) assert.ok((marks[i] - marks[i - 1]) * view.per >= 60);
  }
  assert.deepEqual(ticks(fitted(0, 700), 0, 700), []);
});
