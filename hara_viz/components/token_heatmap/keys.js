// Which key does what. One map for the handler and for the help, so that they agree.

import { make } from "./dom.js";

export const KEYS = [
  ["n", "next rollout", (app) => app.stepRollout(1)],
  ["p", "previous rollout", (app) => app.stepRollout(-1)],
  ["N", "next problem", (app) => app.tell("problem", 1)],
  ["P", "previous problem", (app) => app.tell("problem", -1)],
  ["ArrowRight", "next token", (app) => app.stepToken(1)],
  ["ArrowLeft", "previous token", (app) => app.stepToken(-1)],
  ["]", "next peak of the fill signal", (app) => app.stepPeak(1)],
  ["[", "previous peak", (app) => app.stepPeak(-1)],
  ["/", "search all rollouts (Enter next, Shift+Enter previous)", (app) => app.focusSearch()],
  ["g", "go to a token by number", (app) => app.askPosition()],
  ["e", "expand or collapse this rollout", (app) => app.cycleCurrent()],
  ["w", "marks for spaces, line ends, special tokens", (app) => app.actions.marks()],
  ["Escape", "unpin, close", (app) => app.escape()],
  ["?", "this map", (app) => app.actions.help()],
];
const SHOWN = { ArrowRight: "→", ArrowLeft: "←", Escape: "Esc" };

// True if the key was ours.
export function handleKey(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const origin = event.composedPath()[0];
  if (origin instanceof Element && origin.matches("input, textarea, select, [contenteditable], [contenteditable] *")) return false;
  const found = KEYS.find(([key]) => key === event.key);
  if (!found) return false;
  event.preventDefault();
  found[2](app);
  return true;
}

export function keyMap(close) {
  const rows = KEYS.map(([key, meaning]) => make("div", { children: [make("kbd", { text: SHOWN[key] ?? key }), make("span", { text: meaning })] }));
  return make("div", { class: "help", role: "dialog", "aria-label": "Keyboard map", on: { click: close }, children: [make("div", { class: "help-list", children: rows })] });
}
