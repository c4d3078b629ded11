import assert from "node:assert/strict";
import { test } from "node:test";

import { densityOf, legendCounts, opacityOf, shadeOf, SIDE } from "./density.js";
import { pannedCamera, toScreen } from "./space.js";

const [width, height] = [240, 120];
const camera = { x: 3, y: -2, per: 10 };

function cloud(n) {
  let seed = 7;
  const next = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const spread = (middle, range) => Float32Array.from({ length: n }, () => middle + (next() - 0.5) * range);
  return { n, x: spread(3, 30), y: spread(-2, 16) };
}

test("a square counts the points drawn in it, no more and no less", () => {
  const frame = cloud(500);
  const found = densityOf({ frame, camera, width, height });
  const counts = new Uint32Array(found.counts.length);
  for (let i = 0; i < frame.n; i++) {
    const [px, py] = toScreen(camera, frame.x[i], frame.y[i], width, height);
    for (let at = 0; at < counts.length; at++) {
      const x = found.left + (at % found.columns) * SIDE;
      const y = found.top + Math.floor(at / found.columns) * SIDE;
      if (px >= x && px < x + SIDE && py >= y && py < y + SIDE) counts[at] += 1;
    }
  }
  assert.deepEqual([...found.counts], [...counts]);
  assert.equal(found.most, Math.max(...counts));
  assert.ok(found.most > 1);
});

test("the squares cover the screen", () => {
  for (const x of [-1e4, -3.3, 0, 0.7, 5e3]) {
    const { left, top, columns, rows } = densityOf({ frame: cloud(1), camera: { ...camera, x }, width, height });
    assert.ok(left <= 0 && top <= 0 && left > -2 * SIDE && top > -2 * SIDE);
    assert.ok(left + columns * SIDE >= width && top + rows * SIDE >= height);
  }
});

test("moving the map moves the squares with it: no count changes on the way", () => {
  const frame = { n: 40, x: Float32Array.from({ length: 40 }, (_, i) => 3 + (i % 8) / 4), y: new Float32Array(40).fill(-2) };
  const kept = (by) => [...densityOf({ frame, camera: pannedCamera(camera, ...by), width, height }).counts].filter(Boolean);
  for (const by of [[5, 0], [17, 3], [-31, 8]]) assert.deepEqual(kept(by), kept([0, 0]));
});

test("points without a place, or beyond the screen, are not counted", () => {
  const frame = { n: 4, x: Float32Array.of(NaN, 3, 1e9, -1e9), y: Float32Array.of(-2, Infinity, -2, 0) };
  const found = densityOf({ frame, camera, width, height });
  assert.equal(found.most, 0);
  assert.ok(found.counts.every((count) => count === 0));
});

test("more points are never paler, and nothing is nothing", () => {
  assert.equal(opacityOf(0, 50), 0);
  assert.equal(shadeOf(50, 50), 1);
  for (let count = 1; count < 50; count++) assert.ok(opacityOf(count, 50) < opacityOf(count + 1, 50));
  assert.ok(opacityOf(1, 1e6) >= 0.06);
});

test("the legend names counts that the scale has", () => {
  assert.deepEqual(legendCounts(0), []);
  assert.deepEqual(legendCounts(1), [1]);
  assert.deepEqual(legendCounts(99), [1, 9, 99]);
  assert.ok(Math.abs(shadeOf(9, 99) - 0.5) < 1e-9);
});
