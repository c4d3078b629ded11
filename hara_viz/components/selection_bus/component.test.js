import assert from "node:assert/strict";
import { test } from "node:test";

import { SelectionBus } from "./component.js";

function makeBus() {
  const page = new EventTarget();
  const heard = [];
  const told = [];
  page.addEventListener("hara:select", (event) => heard.push(event.detail));
  const bus = new SelectionBus(page, {
    setTriggerValue: (name, value) => told.push([name, value]),
  });
  const move = (detail) =>
    page.dispatchEvent(
      new CustomEvent("hara:select", { detail: { user: true, source: "plan", ...detail } }),
    );
  const said = () => heard.filter((detail) => detail.source === "python");
  return { page, bus, told, move, said };
}

const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test("what Python says is heard once, and kept for views that come later", () => {
  const { page, bus, said } = makeBus();
  bus.say({ sample: 1, token: null });
  bus.say({ token: null, sample: 1 });
  assert.deepEqual(said(), [{ sample: 1, token: null, source: "python", user: false }]);
  assert.deepEqual(page.haraSelection, { sample: 1, token: null });
});

test("a user's moves reach Python once, merged, after a pause", async () => {
  const { bus, told, move, said } = makeBus();
  bus.say({ sample: 0, token: null });
  move({ token: 1 });
  move({ token: 2 });
  move({ sample: 3 });
  assert.deepEqual(told, []);
  await rest(220);
  assert.deepEqual(told, [["move", { token: 2, sample: 3 }]]);
  assert.equal(said().length, 1);
});

test("a view that reports itself is not reported twice", async () => {
  const { told, move } = makeBus();
  move({ token: 1, reported: true });
  await rest(200);
  assert.deepEqual(told, []);
});

test("an answer to a move is no news, and an old answer does not take the user back", async () => {
  const { page, bus, move, said } = makeBus();
  bus.say({ sample: 0, token: null });
  for (const token of [5, 6, 7]) move({ token, reported: true });
  bus.say({ sample: 0, token: 6 });
  bus.say({ sample: 0, token: 7 });
  assert.equal(said().length, 1);
  assert.equal(page.haraSelection.token, 7);
  bus.say({ sample: 0, token: 5 }); // now it is Python that moved
  assert.equal(said().length, 2);
  assert.equal(page.haraSelection.token, 5);
});

function click(page, link) {
  const event = new Event("click", { cancelable: true });
  Object.defineProperty(event, "composedPath", { value: () => [link] });
  page.dispatchEvent(event);
  return event.defaultPrevented;
}

test("a link waits until Python has heard of the move before it", async () => {
  const { page, told, move } = makeBus();
  const followed = [];
  const link = { tagName: "A", click: () => followed.push(told.length) };
  assert.equal(click(page, link), false, "nothing is on its way");
  move({ token: 4 });
  assert.equal(click(page, { tagName: "BUTTON" }), false);
  assert.equal(click(page, link), true);
  assert.deepEqual(followed, []);
  await rest(350);
  assert.deepEqual(told, [["move", { token: 4 }]]);
  assert.deepEqual(followed, [1], "followed once, after Python was told");
  assert.equal(click(page, link), false);
});

test("others' events without a user behind them are left alone", async () => {
  const { bus, page, told } = makeBus();
  page.dispatchEvent(
    new CustomEvent("hara:select", { detail: { token: 9, user: false, source: "x" } }),
  );
  page.dispatchEvent(new CustomEvent("hara:select", { detail: null }));
  await rest(200);
  assert.deepEqual(told, []);
  assert.deepEqual(bus.now, {});
});

test("a disposed bus is deaf", () => {
  const { bus, move } = makeBus();
  bus.dispose();
  move({ token: 1 });
  assert.deepEqual(bus.now, {});
});
