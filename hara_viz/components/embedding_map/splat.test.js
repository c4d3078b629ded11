import assert from "node:assert/strict";
import { test } from "node:test";

import { colourScale } from "../token_heatmap/colour.js";
import { FAINT, pixelOf, pointColours, UNKNOWN } from "./colours.js";
import { tintsOf } from "./layer.js";
import { splat } from "./splat.js";

const [INK, RIM] = [7, 1];

function painted(width, height, places, half = 1, tint = INK) {
  const pixels = new Uint32Array(width * height);
  const points = {
    n: places.length,
    x: Int32Array.from(places, ([x]) => x),
    y: Int32Array.from(places, ([, y]) => y),
    tint: Uint32Array.from(places, (_, k) => tint + k),
  };
  splat(pixels, width, height, points, half, RIM);
  return Array.from({ length: height }, (_, row) =>
    [...pixels.subarray(row * width, (row + 1) * width)].join(""),
  );
}

test("a point is a square with a rim", () => {
  assert.deepEqual(painted(7, 6, [[3, 2]]), [
    "0111110",
    "0177710",
    "0177710",
    "0177710",
    "0111110",
    "0000000",
  ]);
});

test("later points lie on top, and no rim cuts into what is there", () => {
  assert.deepEqual(painted(8, 5, [[2, 2], [4, 2]]), [
    "11111110",
    "17788810",
    "17788810",
    "17788810",
    "11111110",
  ]);
});

test("points at or beyond the border do no harm", () => {
  assert.deepEqual(painted(3, 3, [[0, 0], [-50, 1], [1, 99], [2147483647, -2147483648]]), [
    "771",
    "771",
    "111",
  ]);
});

test("a value has the colour that it has in the token heatmap", () => {
  for (const dark of [false, true])
    for (const kind of ["sequential", "signed"]) {
      const text = colourScale([-1, 3], kind === "signed", dark);
      const map = pointColours({ kind, domain: [-1, 3] }, dark);
      let alike = 0;
      for (const value of [-5, -1, -0.7, 0, 0.4, 1.5, 2.9, 3, 80]) {
        const pixel = text.pixels[text.index(value)];
        if (pixel >>> 24 !== 255) continue; // the text lets its page through there
        assert.equal(pixelOf(map.of(value)), pixel);
        alike += 1;
      }
      assert.ok(alike >= 4, `${kind} has ${alike} opaque ones`);
    }
});

test("a pixel holds red, green, blue and opacity as ImageData does", () => {
  assert.deepEqual([...new Uint8Array(Uint32Array.of(pixelOf("#1234ab")).buffer)], [18, 52, 171, 255]);
  assert.deepEqual([...new Uint8Array(Uint32Array.of(pixelOf(UNKNOWN, 0.5)).buffer)], [138, 143, 152, 64]);
});

test("points are coloured in the order of drawing, faint where a lasso leaves them out", () => {
  const frame = { value: Float32Array.of(0, 1, NaN) };
  const colours = pointColours({ kind: "sequential", domain: [0, 1] }, false);
  const order = Uint32Array.of(2, 0, 1);
  const plain = tintsOf({ frame, order, colours, chosen: null });
  assert.deepEqual([...plain], [NaN, 0, 1].map((value) => pixelOf(colours.of(value))));
  const some = tintsOf({ frame, order, colours, chosen: new Set([0]) });
  assert.equal(some[1], plain[1]);
  assert.equal(some[2] >>> 24, Math.round(255 * FAINT));
});
