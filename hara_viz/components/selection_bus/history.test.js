import assert from "node:assert/strict";
import { test } from "node:test";

import { joinEntries } from "./history.js";

function browser(...entries) {
  const stack = entries.map((path) => new URL(path, "http://x"));
  const go = (put) => (state, title, url) => put(new URL(url, stack.at(-1)));
  const history = {
    pushState: go((url) => stack.push(url)),
    replaceState: go((url) => stack.splice(-1, 1, url)),
  };
  const location = {
    get href() {
      return stack.at(-1).href;
    },
    get search() {
      return stack.at(-1).search;
    },
    get pathname() {
      return stack.at(-1).pathname;
    },
  };
  const seen = () => stack.map(({ pathname, search }) => pathname + search);
  return { history, location, seen };
}

test("a page that is turned makes one entry, all else as many as before", () => {
  const { history, location, seen } = browser("/?run=a");
  const leave = joinEntries(history, location);
  history.pushState(null, "", "/transport");
  history.pushState(null, "", "/transport?run=a");
  assert.deepEqual(seen(), ["/?run=a", "/transport?run=a"]);
  history.pushState(null, "", "/transport?run=a&rollout=1");
  history.pushState(null, "", "/?run=a&rollout=1");
  assert.equal(seen().length, 4);
  leave();
  history.pushState(null, "", "/runs");
  history.pushState(null, "", "/runs?run=a");
  assert.deepEqual(seen().slice(-2), ["/runs", "/runs?run=a"]);
});
