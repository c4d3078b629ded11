import assert from "node:assert/strict";
import { test } from "node:test";

import { FrameError } from "../shared/envelope.js";
import { cellOfToken, parseFrame, sameText } from "./frame.js";
import { bytesOf, ONE, sample } from "./sample_frame.js";

test("a frame is read as it was written", () => {
  const frame = parseFrame(bytesOf(sample()));
  assert.equal(frame.nCells, 6);
  assert.equal(frame.nTokens, 8);
  assert.deepEqual([...frame.cells], [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...frame.firstToken], [0, 1, 2, 5, 6, 7, 8]);
  assert.deepEqual(
    frame.rows.map((row) => [row.cell0, row.token0]),
    [
      [0, 0],
      [5, 7],
    ],
  );
  assert.deepEqual(frame.kinds[2], { text: "örld", ids: [12, 13, 14], special: false, raw: null });
});

test("bytes that do not begin at a multiple of four are read too", () => {
  const bytes = bytesOf(sample());
  for (const shift of [1, 2, 3]) {
    const moved = new Uint8Array(bytes.length + shift);
    moved.set(bytes, shift);
    assert.deepEqual([...parseFrame(moved.subarray(shift)).cells], [0, 1, 2, 3, 4, 5]);
  }
});

test("tokens of a shared cell lead to it", () => {
  const frame = parseFrame(bytesOf(sample()));
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map((token) => cellOfToken(frame, token)),
    [0, 1, 2, 2, 2, 3, 4, 5],
  );
});

const [row, other] = sample().rows;
const damaged = {
  "another magic": { magic: "HARAHEAX" },
  "another version": { version: 1 },
  "a kind that is not there": { cells: [0, 1, 2, 3, 4, 6] },
  "too few cells": { cells: [0, 1] },
  "tokens that the cells do not hold": { rows: [{ ...row, tokens: 6 }, other] },
  "an answer outside": { rows: [{ ...row, answer: [4, 9] }, other] },
  "an empty step": { rows: [{ ...row, gaps: [4, 0] }, other] },
  "steps that lead outside": { rows: [{ ...row, gaps: [4, 3] }, other] },
  "a length below zero": { rows: [{ ...row, cells: -5 }, other] },
  "a cell without tokens": { kinds: [["x", [], 0], ...sample().kinds.slice(1)] },
  "a channel without scale": {
    channels: [{ name: "weight", scale: 0, bits: Array(8).fill(ONE) }],
    signals: [],
  },
  "a channel too short": { channels: [{ name: "weight", bits: [ONE] }], signals: [] },
  "a signal without its channel": { channels: [] },
};
for (const [what, changes] of Object.entries(damaged)) {
  test(`refused: ${what}`, () => {
    assert.throws(() => parseFrame(bytesOf(sample(changes))), FrameError);
  });
}

test("refused: every truncation, and what is no frame at all", () => {
  const bytes = bytesOf(sample());
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => parseFrame(bytes.subarray(0, length)), FrameError, `${length} bytes`);
  }
  for (const junk of [null, "HARAHEAT", new Uint8Array(64)])
    assert.throws(() => parseFrame(junk), FrameError);
});

test("any damage ends in a FrameError or in a frame, never in another error", () => {
  const bytes = bytesOf(sample());
  let seed = 7;
  const next = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let i = 0; i < 3000; i++) {
    const damaged = Uint8Array.from(bytes);
    for (let flips = 0; flips <= i % 4; flips++) damaged[next(damaged.length)] = next(256);
    try {
      parseFrame(damaged);
    } catch (error) {
      assert.ok(error instanceof FrameError, String(error));
    }
  }
});

test("frames of the same text are told from others", () => {
  const frame = parseFrame(bytesOf(sample()));
  const again = parseFrame(bytesOf(sample({ channels: [], signals: [] })));
  assert.equal(sameText(frame, again), true);
  const other = sample();
  other.kinds[1][0] = " v";
  assert.equal(sameText(frame, parseFrame(bytesOf(other))), false);
  assert.equal(sameText(frame, parseFrame(bytesOf(sample({ cells: [1, 0, 2, 3, 4, 5] })))), false);
});
