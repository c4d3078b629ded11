import assert from "node:assert/strict";
import { test } from "node:test";

import { FrameError } from "../shared/envelope.js";
import { parseFrame } from "./frame.js";
import { bytesOf, ONE, sample, signalBytes } from "./sample_frame.js";
import { addSignal, parseSignal } from "./signal_frame.js";
import { signalValues } from "./values.js";
import { settled, wished } from "./view.js";

const OFFERS = [
  { name: "shear", label: "SHEAR", meaning: "", signed: false, locked: "", terms: [[1, "shear", false]] },
  { name: "gap", label: "Gap", meaning: "", signed: true, locked: "",
    terms: [[1, "shear", false], [-1, "weight", false]] },
  { name: "ratio", label: "Ratio", meaning: "", signed: true, locked: "no", terms: [[1, "ratio", false]] },
];
const frameOf = () => parseFrame(bytesOf(sample({ offers: OFFERS })));
const asked = { signal: "shear", underline: null, granularity: "token", bounds: [0, 1], sample: null, token: null };

test("a signal that has come is no longer on offer, nor are others that it completes", () => {
  const frame = frameOf();
  assert.equal(addSignal(frame, parseSignal(signalBytes())), true);
  assert.deepEqual(frame.offers.map(({ name }) => name), ["ratio"]);
  assert.deepEqual([...signalValues(frame, "shear")], Array(8).fill(2));
  assert.equal(signalValues(frame, "gap")[0], 0);
  assert.equal(addSignal(frame, parseSignal(signalBytes())), false);
});

test("a signal of other rollouts is left alone", () => {
  assert.equal(addSignal(frameOf(), parseSignal(signalBytes({ base: "1" }))), false);
  assert.equal(addSignal(frameOf(), parseSignal(signalBytes({ bits: [ONE] }))), false);
});

test("what is awaited leaves what is shown, and is what links say", () => {
  const frame = frameOf();
  const before = { signal: "entropy", underline: "weight" };
  const view = settled({ ...asked, underline: "gap" }, frame, before);
  assert.deepEqual([view.signal, view.underline], ["entropy", "weight"]);
  assert.deepEqual(view.awaited, { signal: "shear", underline: "gap" });
  const { signal, underline, bounds } = wished(view, asked);
  assert.deepEqual([signal, underline, bounds], ["shear", "gap", [0, 1]]);
  addSignal(frame, parseSignal(signalBytes()));
  const there = settled(asked, frame, before);
  assert.deepEqual([there.signal, there.bounds, there.awaited], ["shear", [0, 1], {}]);
});

test("what is locked or unknown is not waited for", () => {
  for (const signal of ["ratio", "x"]) {
    const view = settled({ ...asked, signal }, frameOf(), null);
    assert.deepEqual([view.signal, view.bounds, view.awaited], ["weight", null, {}]);
  }
});

const damaged = {
  "another magic": { magic: "HARASIGX" },
  "another version": { version: 2 },
  "no scale": { scale: 0 },
  "no name": { channel: 7 },
  "more numbers than it says": { tokens: 2 },
  "fewer numbers than it says": { tokens: 99 },
};
for (const [what, changes] of Object.entries(damaged)) {
  test(`refused: ${what}`, () => {
    assert.throws(() => parseSignal(signalBytes(changes)), FrameError);
  });
}
