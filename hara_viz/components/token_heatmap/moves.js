// Moves by keyboard and search: where to go next. The heatmap does the going (`pin`).

import { make } from "./dom.js";
import { findAll } from "./search.js";
import { peaksOf } from "./values.js";

export function stepRollout(app, direction) {
  if (!app.order.length) return;
  const at = app.order.indexOf(app.cardOf(app.view.sample));
  const next = at < 0 ? 0 : (at + direction + app.order.length) % app.order.length;
  app.tooltip.hide();
  app.pin(app.order[next].row.sample, null);
}

export function stepToken(app, direction) {
  const card = app.current();
  if (!card?.row.tokens) return;
  const pinned = pinnedIn(app, card);
  const token = pinned === null ? card.firstShownToken() : pinned + direction;
  app.pinByKey(card.row, Math.max(0, Math.min(card.row.tokens - 1, token)));
}

export function stepPeak(app, direction) {
  const card = app.current();
  if (!card) return;
  const peaks = peaksOf(card.row, app.colours.values);
  const at = pinnedIn(app, card) ?? (direction > 0 ? -1 : card.row.tokens);
  const next = direction > 0 ? peaks.find((t) => t > at) : peaks.findLast((t) => t < at);
  if (next !== undefined) app.pinByKey(card.row, next);
}

function pinnedIn(app, card) {
  return app.view.sample === card.row.sample ? app.view.token : null;
}

// A small field that asks for a token's number.
export function askPosition(app) {
  const card = app.current();
  if (!card?.row.tokens || app.root.querySelector(".ask")) return;
  const { row } = card;
  const last = row.tokens - 1;
  const placeholder = `0 … ${last}`;
  const input = make("input", {
    type: "text",
    inputmode: "numeric",
    placeholder,
    "aria-label": "Token number",
  });
  const ask = make("div", {
    class: "ask",
    children: [make("span", { text: `#${row.sample}, token` }), input],
  });
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const text = input.value.trim();
    if (event.key === "Enter" && /^\d+$/.test(text) && Number(text) <= last)
      app.pinByKey(row, Number(text));
    if (["Enter", "Escape"].includes(event.key)) input.blur();
  });
  input.addEventListener("blur", () => ask.remove());
  app.root.append(ask);
  input.focus();
}

export function find(app, query) {
  const hits = findAll(app.frame, query);
  const cells = new Set();
  for (const hit of hits) for (let c = hit.first; c <= hit.last; c++) cells.add(c);
  app.search = { hits, at: -1, cells };
  app.toolbar.showCount(query ? (hits.length ? `${hits.length} found` : "not found") : "");
  for (const card of app.cards) card.remark();
}

export function nextHit(app, direction) {
  const { hits } = app.search;
  if (!hits.length) return;
  const from = app.search.at < 0 && direction < 0 ? 0 : app.search.at;
  app.search.at = (from + direction + hits.length) % hits.length;
  const hit = hits[app.search.at];
  const row = app.frame.rows[hit.row];
  app.toolbar.showCount(`${app.search.at + 1} of ${hits.length}`);
  app.pin(row.sample, app.frame.firstToken[hit.first] - row.token0);
}
