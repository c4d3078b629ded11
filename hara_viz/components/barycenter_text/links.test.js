import assert from "node:assert/strict";
import { test } from "node:test";

import { partings, pathOf, strength } from "./links.js";

const LINKS = [
  { first: 0, second: 1, share: 1, gap: 0.5 },
  { first: 1, second: 0, share: 1, gap: 0.9 },
  { first: 2, second: 2, share: 1, gap: 0.1 },
  { first: 3, second: 3, share: 1, gap: 0.7 },
];

test("the widest gap is the strongest link, the narrowest the weakest", () => {
  assert.equal(strength(LINKS, 0.9), 1);
  assert.equal(strength(LINKS, 0.1), 0);
  assert.equal(strength([LINKS[0]], 0.5), 0);
});

test("partings are the widest gaps, in reading order", () => {
  assert.deepEqual(partings(LINKS, 2).map(({ first }) => first), [1, 3]);
  assert.deepEqual(partings([], 2), []);
});

test("a path leads from one row to the other", () => {
  assert.equal(pathOf(10, 30, 80), "M0,10.0C40,10.0 40,30.0 80,30.0");
});
