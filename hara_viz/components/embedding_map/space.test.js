import assert from "node:assert/strict";
import { test } from "node:test";

import { drawingOrder, pointColours, UNKNOWN } from "./colours.js";
import {
  extentOf,
  fittedCamera,
  isInside,
  MARGIN,
  pannedCamera,
  PointGrid,
  toMap,
  toScreen,
  zoomedCamera,
} from "./space.js";

const [WIDTH, HEIGHT] = [900, 430];

// Numbers that look random and are the same each time.
function scattered(n, seed) {
  let state = seed;
  return Float32Array.from({ length: n }, () => {
    state = (1664525 * state + 1013904223) % 4294967296;
    return state / 4294967296;
  });
}

test("a fitted map lies within the margins, undistorted", () => {
  const extent = { left: -3, right: 7, low: 2, high: 4 };
  const camera = fittedCamera(extent, WIDTH, HEIGHT);
  const [x0, y0] = toScreen(camera, -3, 4, WIDTH, HEIGHT);
  const [x1, y1] = toScreen(camera, 7, 2, WIDTH, HEIGHT);
  assert.ok(x0 >= MARGIN - 1e-6 && x1 <= WIDTH - MARGIN + 1e-6 && y0 >= MARGIN - 1e-6);
  assert.ok(Math.abs((x1 - x0) / 10 - (y1 - y0) / 2) < 1e-9);
});

test("screen and map are inverse; zoom keeps the place, pan moves it", () => {
  const fit = fittedCamera({ left: 0, right: 1, low: 0, high: 1 }, WIDTH, HEIGHT);
  const place = toMap(fit, 200, 77, WIDTH, HEIGHT);
  const closer = zoomedCamera(fit, 200, 77, 5, fit, WIDTH, HEIGHT);
  const [x, y] = toScreen(closer, ...place, WIDTH, HEIGHT);
  assert.ok(Math.abs(x - 200) < 1e-6 && Math.abs(y - 77) < 1e-6);
  const [px, py] = toScreen(pannedCamera(fit, 30, -12), ...place, WIDTH, HEIGHT);
  assert.ok(Math.abs(px - 230) < 1e-6 && Math.abs(py - 65) < 1e-6);
});

test("the grid finds what a search of all points finds", () => {
  const xs = scattered(3000, 1);
  const ys = scattered(3000, 2);
  const grid = new PointGrid(xs, ys);
  const [qx, qy] = [scattered(200, 3), scattered(200, 4)];
  for (let q = 0; q < 200; q++) {
    let best = null;
    let least = 0.02 ** 2;
    for (let i = 0; i < 3000; i++) {
      const gap = (xs[i] - qx[q]) ** 2 + (ys[i] - qy[q]) ** 2;
      if (gap < least) [best, least] = [i, gap];
    }
    assert.equal(grid.nearest(qx[q], qy[q], 0.02), best);
  }
});

test("one point, equal points and no points can be shown", () => {
  assert.equal(new PointGrid(Float32Array.of(2), Float32Array.of(3)).nearest(2.1, 3, 0.2), 0);
  const equal = new PointGrid(new Float32Array(9), new Float32Array(9));
  assert.notEqual(equal.nearest(0, 0, 1), null);
  const none = new PointGrid(new Float32Array(0), new Float32Array(0));
  assert.equal(none.nearest(0, 0, 1), null);
  assert.ok(Number.isFinite(fittedCamera(extentOf([], []), WIDTH, HEIGHT).per));
});

test("a lasso holds what lies inside, dents left out", () => {
  const corners = [[0, 0], [10, 0], [10, 10], [5, 4], [0, 10]];
  assert.equal(isInside(corners, 5, 2), true);
  assert.equal(isInside(corners, 5, 8), false);
  assert.equal(isInside(corners, 11, 5), false);
});

test("unknown values are grey, ends of a scale are its ends, outcomes keep their colours", () => {
  for (const dark of [false, true]) {
    const scale = pointColours({ kind: "signed", domain: [-1, 1] }, dark);
    assert.equal(scale.of(NaN), UNKNOWN);
    assert.equal(scale.of(-9), scale.css[0]);
    assert.equal(scale.of(9), scale.css[255]);
    const names = pointColours({ kind: "categories", categories: ["wrong", "right"] }, dark);
    const turned = pointColours({ kind: "categories", categories: ["right", "wrong"] }, dark);
    assert.equal(names.of(0), turned.of(1));
    assert.equal(names.of(7), UNKNOWN);
  }
});

test("what stands out is drawn last, unknown first", () => {
  const values = Float32Array.of(0.5, NaN, 2, -3);
  assert.deepEqual([...drawingOrder({ kind: "sequential" }, values)], [1, 3, 0, 2]);
  assert.deepEqual([...drawingOrder({ kind: "signed" }, values)], [1, 0, 2, 3]);
});
