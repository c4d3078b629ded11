import assert from "node:assert/strict";
import { test } from "node:test";

import { clamped, fitted } from "../shared/view.js";
import { columnsOf, levelsOf, shareColours } from "./matrix.js";

test("a lone token among thousands is still seen", () => {
  const tokens = 16384;
  const shares = new Uint16Array(tokens * 2);
  shares[9001 * 2 + 1] = 65535;
  const frame = { tokens, atoms: [{}, {}], shares };
  const columns = columnsOf(fitted(tokens, 700), tokens, 700);
  const levels = levelsOf(frame, columns);
  assert.equal(columns.count, 700);
  const lit = Array.from(levels.keys()).filter((i) => levels[i]);
  assert.deepEqual(lit, [700 + Math.floor((9001 * 700) / tokens)]);
  assert.equal(levels[lit[0]], 255);
});

test("every token is in a column, zoomed out or in", () => {
  for (const [tokens, width] of [[5, 700], [701, 700], [3000, 700], [16384, 333]]) {
    const shares = new Uint16Array(tokens).fill(40000);
    const columns = columnsOf(fitted(tokens, width), tokens, width);
    const levels = levelsOf({ tokens, atoms: [{}], shares }, columns);
    assert.ok(levels.every((level) => level === 40000 >> 8), `${tokens} in ${width}`);
    const end = columns.first + columns.count * columns.perColumn;
    assert.ok(Math.abs(end - tokens) <= columns.perColumn, `${tokens}: ends at ${end}`);
  }
});

test("a closer view holds one token a column", () => {
  const view = clamped({ from: 40.5, per: 20 }, 1000, 200);
  const columns = columnsOf(view, 1000, 200);
  assert.equal(columns.perColumn, 1);
  assert.equal(columns.first, 40);
  assert.equal(columns.x, -10);
  assert.equal(columns.count, 11);
});

test("more share is a stronger colour, in both themes", () => {
  for (const dark of [false, true]) {
    const table = shareColours(dark);
    const light = (i) => table[4 * i] + table[4 * i + 1] + table[4 * i + 2];
    for (let i = 2; i < 256; i++)
      assert.ok(dark ? light(i) >= light(i - 1) : light(i) <= light(i - 1));
    assert.equal(table[3], 0);
    assert.equal(table[7], 255);
  }
});
