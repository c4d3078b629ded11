import assert from "node:assert/strict";
import { test } from "node:test";

import { queryOf, readAddress } from "./address.js";

const EMPTY = {
  sample: null,
  token: null,
  signal: "novelty",
  underline: null,
  granularity: "token",
  bounds: null,
  among: [],
};

test("an address without a view is the default view", () => {
  assert.deepEqual(readAddress("?run=a&problem=b"), EMPTY);
});

test("a view survives the address, and the rest of the address survives the view", () => {
  const view = {
    sample: 3,
    token: 0,
    signal: "advantage",
    underline: "entropy",
    granularity: "step",
    bounds: [-0.5, 2],
    among: [0, 12],
  };
  const query = queryOf(view, "?run=a+b&among=0-12&credit.alpha=0.7&token=9");
  assert.deepEqual(readAddress(query), view);
  const rest = new URLSearchParams(query);
  assert.deepEqual([rest.get("run"), rest.get("credit.alpha"), rest.get("among")], ["a b", "0.7", "0-12"]);
});

test("defaults are left out", () => {
  assert.equal(queryOf(EMPTY, "?run=a&signal=entropy&rollout=1"), "?run=a");
  assert.equal(queryOf(EMPTY, ""), "");
});

test("what makes no sense is ignored", () => {
  assert.deepEqual(readAddress("?rollout=-1&token=1e3&level=page&bounds=3..1"), EMPTY);
  for (const among of ["", "-1", "1-", "1--2", "x", "1,2", "1e3", "999999999999"])
    assert.deepEqual(readAddress(`?among=${among}`), EMPTY);
  assert.deepEqual(readAddress("?bounds=..&token=99999999999999"), EMPTY);
});
