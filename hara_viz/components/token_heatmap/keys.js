// Which key does what. One map for the handler and for the help, so that they agree.

import { make } from "./dom.js";
import { askPosition, stepPeak, stepRollout, stepToken } from "./moves.js";

export const KEYS = [
  ["n", "next rollout", (app) => stepRollout(app, 1)],
  ["p", "previous rollout", (app) => stepRollout(app, -1)],
  ["N", "next problem", (app) => app.reporter.tell("problem", 1), "needs Python"],
  ["P", "previous problem", (app) => app.reporter.tell("problem", -1), "needs Python"],
  ["ArrowRight", "next token", (app) => stepToken(app, 1)],
  ["ArrowLeft", "previous token", (app) => stepToken(app, -1)],
  ["]", "next peak of the fill signal", (app) => stepPeak(app, 1)],
  ["[", "previous peak", (app) => stepPeak(app, -1)],
  [
    "/",
    "search all rollouts (Enter next, Shift+Enter previous)",
    (app) => app.toolbar.focusSearch(),
  ],
  ["g", "go to a token by number", (app) => askPosition(app)],
  ["e", "expand or collapse this rollout", (app) => app.cycle(app.current())],
  ["w", "marks for spaces, line ends, special tokens", (app) => app.toggleMarks()],
  ["Escape", "unpin, close", (app) => app.escape()],
  ["?", "this map", (app) => app.toggleHelp()],
];
const SHOWN = { ArrowRight: "→", ArrowLeft: "←", Escape: "Esc" };
const EDITABLE = "input, textarea, select, [contenteditable], [contenteditable] *";

// Does the key's move, if it is one of ours and the reader is not typing.
export function handleKey(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const origin = event.composedPath()[0];
  if (origin instanceof Element && origin.matches(EDITABLE)) return;
  const found = KEYS.find(([key]) => key === event.key);
  if (!found) return;
  event.preventDefault();
  found[2](app);
}

// The map of the keys that work here: a page that stands alone holds one problem.
export function keyMap(app, close) {
  const works = ([, , , needsPython]) => !needsPython || app.reporter.host.setTriggerValue;
  const rows = KEYS.filter(works).map(([key, meaning]) =>
    make("div", {
      children: [make("kbd", { text: SHOWN[key] ?? key }), make("span", { text: meaning })],
    }),
  );
  const list = make("div", { class: "help-list", children: rows });
  return make("div", {
    class: "help",
    role: "dialog",
    "aria-label": "Keyboard map",
    on: { click: close },
    children: [list],
  });
}
