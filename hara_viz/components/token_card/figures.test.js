import assert from "node:assert/strict";
import { test } from "node:test";

import { figure, percent } from "./figures.js";

test("three digits, whatever the size", () => {
  assert.equal(figure(0), "0");
  assert.equal(figure(0.012345), "0.0123");
  assert.equal(figure(-1.5), "−1.5");
  assert.equal(figure(1234.5), "1230");
  assert.equal(figure(0.00001234), "1.23e−5");
});

test("unknown is a dash, zero is not", () => {
  assert.equal(figure(null), "–");
  assert.equal(figure(undefined), "–");
  assert.equal(percent(null), "–");
  assert.equal(percent(0), "0 %");
  assert.equal(percent(0.996), "100 %");
});
