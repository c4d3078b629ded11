import assert from "node:assert/strict";
import { test } from "node:test";

import { parseFrame } from "./frame.js";
import { bytesOf, NAN, ONE, sample } from "./sample_frame.js";
import {
  autoDomain,
  bestWindow,
  cellValue,
  formatted,
  halfToFloat,
  levelValues,
  mean,
  peaksOf,
  quantiles,
  signalValues,
  stepOf,
  valueAt,
} from "./values.js";

const frame = () => parseFrame(bytesOf(sample()));
const rounded = (values) =>
  [...values].map((value) => (Number.isNaN(value) ? null : Math.round(value * 1e5) / 1e5));

test("half precision: ends, subnormals, infinities", () => {
  const cases = [
    [0x0000, 0],
    [0x3c00, 1],
    [0xc000, -2],
    [0x7bff, 65504],
    [0x0001, 2 ** -24],
    [0x03ff, 1023 * 2 ** -24],
    [0x0400, 2 ** -14],
    [0x7c00, Infinity],
    [0xfc00, -Infinity],
  ];
  for (const [bits, value] of cases) assert.equal(halfToFloat(bits), value);
  assert.ok(Number.isNaN(halfToFloat(NAN)));
});

test("a signal is the sum of its terms; an unknown advantage makes it unknown", () => {
  assert.deepEqual(rounded(signalValues(frame(), "weight")), [1, 0, -0.5, -3, null, -1, 1, 1]);
  assert.deepEqual(rounded(signalValues(frame(), "advantage")), [4, 2, 1, -4, null, 0, 4, null]);
});

test("one value alone is the one in the row of all", () => {
  const f = frame();
  for (const { name } of f.signals) {
    const all = signalValues(f, name);
    f.rows.forEach((row) => {
      for (let t = row.token0; t < row.token0 + row.tokens; t++)
        assert.equal(Math.fround(valueAt(f, name, row, t)), all[t]);
    });
  }
});

test("levels give each token the mean of its step or rollout, unknown left out", () => {
  const third = Math.round((-3.5 / 2) * 1e5) / 1e5;
  assert.deepEqual(rounded(levelValues(frame(), "weight", "step")), [
    0.5,
    0.5,
    third,
    third,
    third,
    0,
    0,
    1,
  ]);
  const all = Math.round(((1 + 0 - 0.5 - 3 - 1 + 1) / 6) * 1e5) / 1e5;
  assert.deepEqual(rounded(levelValues(frame(), "weight", "rollout")), [...Array(7).fill(all), 1]);
});

test("steps by token", () => {
  const [row, uncut] = frame().rows;
  assert.deepEqual(
    [0, 1, 2, 4, 5, 6].map((t) => stepOf(row, t)),
    [0, 0, 1, 1, 2, 2],
  );
  assert.equal(stepOf(uncut, 0), null);
});

test("quantiles are numpy's", () => {
  // numpy.quantile([1..10], q)
  for (const [share, value] of [
    [0, 1],
    [0.02, 1.18],
    [0.5, 5.5],
    [0.98, 9.82],
    [1, 10],
  ]) {
    assert.ok(
      Math.abs(quantiles([7, 1, 10, 3, 5, 2, 9, 4, 8, 6], [share])[0] - value) < 1e-12,
    );
  }
  assert.deepEqual(quantiles(Float32Array.of(4), [0.98]), [4]);
  assert.deepEqual(quantiles([NaN, Infinity, 3, -Infinity], [0, 1]), [3, 3]);
  assert.deepEqual(quantiles([NaN], [0.5]), [NaN]);
});

test("quantiles of many values, ties among them, equal those of a full sort", () => {
  let seed = 1;
  const next = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (const size of [2, 3, 50, 1001]) {
    const values = Float32Array.from({ length: size }, () => Math.round(next() * 40));
    const sorted = Float32Array.from(values).sort();
    for (const share of [0, 0.02, 0.37, 0.5, 0.98, 1]) {
      const at = share * (size - 1);
      const [a, b] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
      assert.ok(
        Math.abs(quantiles(values, [share])[0] - (a + (at % 1) * (b - a))) < 1e-6,
      );
    }
  }
});

test("domains: zero in the middle for signed signals, never empty", () => {
  const [low, high] = autoDomain(frame(), "weight", "token");
  assert.equal(low, -high);
  assert.ok(high > 0.9 && high <= 3);
  const flat = parseFrame(
    bytesOf(
      sample({
        channels: [
          { name: "weight", bits: Array(8).fill(ONE) },
          { name: "entropy", bits: Array(8).fill(NAN) },
        ],
      }),
    ),
  );
  for (const name of ["weight", "entropy", "advantage"]) {
    const [from, to] = autoDomain(flat, name, "token");
    assert.ok(from < to, `${name}: ${from} … ${to}`);
  }
  const channels = ["weight", "entropy"].map((name) => ({ name, bits: Array(8).fill(ONE) }));
  const even = parseFrame(bytesOf(sample({ channels })));
  const levels = signalValues(even, "entropy");
  assert.equal(autoDomain(even, "entropy", "token")[0], levels[0], "equal values stay pale");
});

test("a shared cell shows the token farthest from zero", () => {
  const f = frame();
  const values = signalValues(f, "weight");
  assert.equal(cellValue(f, values, 2), -3);
  assert.equal(cellValue(f, Float32Array.of(0, 0, NaN, 1, NaN, 0, 0, 0), 2), 1);
  assert.ok(Number.isNaN(cellValue(f, new Float32Array(8).fill(NaN), 2)));
});

test("peaks are local maxima among the top tenth; a window finds the thickest stretch", () => {
  const row = { token0: 2, tokens: 12 };
  const values = Float32Array.from([9, 9, 0, 1, 0, 0, -5, 0, 0, 1, 2, 2, 0, NaN, 9]);
  assert.deepEqual(peaksOf(row, values), [4, 8]); // of the plateau 8, 9 the first
  assert.equal(bestWindow(row, values, 3), 2);
  assert.equal(bestWindow(row, values, 50), 0);
  assert.deepEqual(peaksOf({ token0: 0, tokens: 0 }, values), []);
  assert.deepEqual(peaksOf({ token0: 0, tokens: 2 }, Float32Array.of(NaN, NaN)), []);
});

test("means leave the unknown out", () => {
  assert.equal(mean(Float32Array.of(1, NaN, 3), 0, 3), 2);
  assert.ok(Number.isNaN(mean(Float32Array.of(NaN), 0, 1)));
});

test("numbers as people read them", () => {
  const cases = [
    [0, "0"],
    [1.23456, "1.23"],
    [-0.5, "−0.5"],
    [12345.6, "1.23e+4"],
    [0.00001234, "1.23e-5"],
    [NaN, "–"],
    [null, "–"],
    [Infinity, "∞"],
    [-Infinity, "−∞"],
    [100, "100"],
  ];
  for (const [value, text] of cases) assert.equal(formatted(value), text);
  assert.equal(formatted(0.5, true), "+0.5");
  assert.equal(formatted(0, true), "0");
});
