import assert from "node:assert/strict";
import { test } from "node:test";

import { dearestSentence, edgeAt, neighbour, ribbonAt, ribbonLayout, sentenceAt } from "./span.js";

const FULL = 65535;
const FRAME = {
  tokens: 6,
  steps: [0, 2, 5],
  atoms: [{}, {}, {}],
  own: Uint8Array.from([1, 1, 1, 0, 1, 1]),
  shares: Uint16Array.from(
    [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0, 0], [0, 0.25, 0.75], [0, 0, 1]].flat().map((s) => Math.round(s * FULL)),
  ),
  feature: Float32Array.from([1, 1, 3, NaN, 3, 2]),
  structure: Float32Array.from([0, 0, 0.5, NaN, 0, 0]),
};

test("a token's sentence, its neighbours, and the dearest one", () => {
  assert.deepEqual(sentenceAt(FRAME, 3), { from: 2, to: 5 });
  assert.deepEqual(dearestSentence(FRAME), { from: 2, to: 5 }); // unsampled tokens do not count
  assert.deepEqual(neighbour(FRAME, { from: 2, to: 5 }, 1), { from: 5, to: 6 });
  assert.deepEqual(neighbour(FRAME, { from: 3, to: 4 }, -1), { from: 0, to: 2 });
  assert.deepEqual(neighbour(FRAME, { from: 5, to: 6 }, 1), { from: 5, to: 6 });
  assert.deepEqual(sentenceAt({ ...FRAME, steps: [] }, 3), { from: 0, to: 6 });
});

test("ribbons keep the mass: what leaves above arrives below", () => {
  const { tokens, atoms, ribbons } = ribbonLayout(FRAME, { from: 0, to: 6 }, 600);
  assert.deepEqual(tokens.map(({ token }) => token), [0, 1, 2, 4, 5]);
  assert.ok(Math.abs(atoms.reduce((sum, { mass }) => sum + mass, 0) - 5) < 1e-3);
  for (const { atom, x0, x1 } of atoms) {
    const own = ribbons.filter((ribbon) => ribbon.atom === atom);
    assert.ok(Math.abs(own[0].bottom[0] - x0) < 1e-6);
    assert.ok(Math.abs(own.at(-1).bottom[1] - x1) < 1e-6);
  }
  for (const { token, x0, x1 } of tokens) {
    const own = ribbons.filter((ribbon) => ribbon.token === token);
    assert.ok(Math.abs(own[0].top[0] - x0) < 1e-6);
    assert.ok(Math.abs(own.at(-1).top[1] - x1) < 0.05);
  }
  assert.ok(Math.abs(atoms.at(-1).x1 - 600) < 1e-6);
});

test("a span without own tokens has no ribbons", () => {
  assert.deepEqual(ribbonLayout(FRAME, { from: 3, to: 4 }, 600).ribbons, []);
});

test("a ribbon is found where it is drawn", () => {
  const { ribbons } = ribbonLayout(FRAME, { from: 0, to: 6 }, 600);
  for (const ribbon of ribbons)
    for (const depth of [0, 1]) {
      const x = (edgeAt(ribbon, 0, depth) + edgeAt(ribbon, 1, depth)) / 2;
      assert.equal(ribbonAt([ribbon], x, depth), ribbon);
    }
  assert.equal(ribbonAt(ribbons, -50, 0.5), null);
});
