// One rollout: a line of figures with its strip, and its text, of which only the lines in sight exist.

import { make } from "./dom.js";
import { layoutRow, lineAt, lineOfCell } from "./layout.js";
import { makeLine, markCell, paintCell } from "./lines.js";
import { Overview } from "./overview.js";
import { firstWithin } from "./narrow.js";
import { bestWindow, formatted, signalOf, signalValues } from "./values.js";

const WINDOW_LINES = 6;
const SHORT_LINES = 11;
const OVERSCAN = 300; // pixels above and below the view
const SPAN_TOKENS = 24; // the most novel span that a window is laid around
const VERDICTS = new Map([
  [true, ["✓", "correct"]],
  [false, ["✗", "incorrect"]],
  [null, ["?", "unscored"]],
]);

export class RolloutCard {
  // `opened`: what the reader had opened in an earlier card of the same text.
  constructor(app, row, opened = null) {
    this.app = app;
    this.row = row;
    // "window", "open" or "closed"; null until the first layout
    this.mode = opened?.mode ?? null;
    this.unfolded = opened?.unfolded ?? new Set();
    this.keptCells = opened?.cells ?? null;
    this.drawn = new Map(); // line number -> element
    this.window = [0, 0];
    this.overview = new Overview(row, app.longest, (token) => app.pin(row.sample, token));
    this.build();
  }

  build() {
    const { row } = this;
    const [sign, word] = VERDICTS.get(row.success);
    this.toggle = make("button", {
      type: "button",
      class: "toggle",
      "aria-expanded": "true",
      on: { click: () => this.app.cycle(this) },
      children: [
        make("span", { class: "arrow", text: "▾" }),
        make("b", { text: `#${row.sample}` }),
        make("span", { class: "verdict", title: word, text: sign }),
      ],
    });
    const answer = row.extracted === null ? row.reason || "no answer found" : row.extracted;
    this.head = make("header", {
      children: [
        this.toggle,
        figure("reward", formatted(row.reward), exact(row.reward), "side"),
        figure("A", formatted(row.advantage, true), "advantage before reweighting", "side"),
        figure(
          "tokens",
          String(row.tokens),
          row.finish === "length" ? "cut off at the limit of new tokens" : `ended: ${row.finish}`,
          row.finish === "length" ? "cut" : null,
        ),
        make("span", {
          class: row.extracted === null ? "answer-text dim" : "answer-text",
          title: [answer, row.reason].filter(Boolean).join(" · "),
          text: answer,
        }),
        make("span", { class: "track", children: [this.overview.canvas] }),
      ],
    });
    this.above = more(() => this.extend(-1));
    this.lines = make("div", { class: "lines" });
    this.below = more(() => this.extend(1));
    this.body = make("div", { class: "body", children: [this.above, this.lines, this.below] });
    this.element = make("article", {
      "data-sample": row.sample,
      "aria-label": `Rollout ${row.sample}, ${word}`,
      children: [this.head, this.body],
    });
  }

  folds() {
    const { local } = this.app;
    return this.row.think
      .map(([first, last], i) => [first, last, i])
      .filter(([first, last, i]) => last > first && local.foldAll !== this.unfolded.has(i));
  }

  // Break the lines anew for a width; what was in the window stays in it.
  layout() {
    const { app, row } = this;
    const kept = this.keptCells ?? this.windowCells();
    this.keptCells = null;
    this.foldList = this.folds();
    const look = { ...app.metrics, folds: this.foldList };
    this.layoutLines = layoutRow(app.frame, row, app.segments, app.textWidth, look);
    const isLong = this.layoutLines.top.length > SHORT_LINES;
    this.mode ??= isLong ? "window" : "open";
    if (kept) this.window = [this.lineOf(kept[0]), this.lineOf(kept[1]) + 1];
    this.place(kept !== null);
  }

  // First and last cell in the window; null where there is none to keep.
  windowCells() {
    const [from, to] = this.window;
    if (this.mode !== "window" || to <= from) return null;
    const { cell } = this.layoutLines;
    const end = to < cell.length ? cell[to] : this.row.cell0 + this.row.cells;
    return [cell[from], Math.max(cell[from], end - 1)];
  }

  opened() {
    return { mode: this.mode, unfolded: this.unfolded, cells: this.windowCells() };
  }

  lineOf(cell) {
    return lineOfCell(this.layoutLines, cell);
  }

  // Set which lines are to be seen, and the height that they take.
  place(keep = false) {
    const count = this.layoutLines.top.length;
    if (this.mode === "open") this.window = [0, count];
    else if (this.mode === "closed" || count === 0) this.window = [0, 0];
    else if (!keep) this.window = this.aroundFocus(count);
    const [from, to] = this.window;
    this.clear();
    this.body.hidden = this.mode === "closed";
    this.lines.style.height = `${to > from ? this.y(to) - this.y(from) : 0}px`;
    setMore(this.above, from, "above");
    setMore(this.below, count - to, "below");
    this.toggle.setAttribute("aria-expanded", String(this.mode !== "closed"));
    this.element.dataset.mode = this.mode;
    this.drawOverview();
  }

  aroundFocus(count) {
    const line = this.lineOf(this.focusCell());
    const from = Math.max(0, Math.min(line - (WINDOW_LINES >> 1) + 1, count - WINDOW_LINES));
    return [from, Math.min(count, from + WINDOW_LINES)];
  }

  // The pinned token's cell, else the first in a lasso, else the middle of the most novel span.
  focusCell() {
    const { app, row } = this;
    if (app.view.sample === row.sample && app.view.token !== null)
      return app.cellOf(row, app.view.token);
    const lassoed = firstWithin(app.lasso.cells, row);
    if (lassoed !== null) return lassoed;
    const name = signalOf(app.frame, "novelty") ? "novelty" : app.view.signal;
    const start = bestWindow(row, signalValues(app.frame, name), SPAN_TOKENS);
    return app.cellOf(row, Math.min(row.tokens - 1, start + (SPAN_TOKENS >> 1)));
  }

  // What was drawn around comes into the window.
  focusLasso() {
    if (this.mode === "window" && firstWithin(this.app.lasso.cells, this.row) !== null) this.place();
  }

  setMode(mode) {
    this.mode = mode;
    this.place();
  }

  cycle() {
    const long = this.layoutLines.top.length > SHORT_LINES;
    const next = { closed: long ? "window" : "open", window: "open", open: "closed" };
    this.setMode(next[this.mode]);
  }

  // The toolbar folded or unfolded all regions: forget what was done to single ones.
  refold() {
    this.unfolded.clear();
    this.layout();
  }

  extend(direction) {
    const count = this.layoutLines.top.length;
    const [from, to] = this.window;
    this.window = direction < 0 ? [0, to] : [from, count];
    if (this.window[0] === 0 && this.window[1] === count) this.mode = "open";
    this.place(true);
    this.app.renderAll();
  }

  // Make sure that a cell's line is within the window.
  bringIn(cell) {
    if (this.mode === "closed") this.mode = "window";
    const region = this.foldList.find(
      ([first, last]) => cell >= this.row.cell0 + first && cell < this.row.cell0 + last,
    );
    if (region) {
      this.flipFold(region[2]);
      this.layout();
    }
    const line = this.lineOf(cell);
    if (line >= this.window[0] && line < this.window[1] && !region) return;
    this.place();
  }

  flipFold(region) {
    if (!this.unfolded.delete(region)) this.unfolded.add(region);
  }

  unfold(region) {
    this.flipFold(region);
    this.layout();
    this.app.renderAll();
  }

  y(line) {
    const { top, height } = this.layoutLines;
    return line < top.length ? top[line] : height;
  }

  // Where a token stands (null: the rollout's head): [element, top, bottom] in pixels within it.
  // Its line is brought into the window first.
  placeOf(token) {
    if (token === null || !this.row.tokens) return [this.element, 0, this.head.offsetHeight];
    const cell = this.app.cellOf(this.row, token);
    this.bringIn(cell);
    const top = this.y(this.lineOf(cell)) - this.y(this.window[0]);
    return [this.lines, top, top + this.app.metrics.lineHeight];
  }

  clear() {
    this.lines.replaceChildren();
    this.drawn.clear();
  }

  // Bring into being the lines between two heights (pixels from the top of the lines), drop others.
  render(from, to) {
    const [first, last] = this.window;
    const start = this.y(first);
    const height = this.y(last) - start;
    if (last <= first || to + OVERSCAN < 0 || from - OVERSCAN > height) {
      if (this.drawn.size) this.clear();
      return;
    }
    const wantedFirst = Math.max(first, lineAt(this.layoutLines, start + from - OVERSCAN));
    const wantedLast = Math.min(last, lineAt(this.layoutLines, start + to + OVERSCAN) + 1);
    for (const [line, element] of this.drawn) {
      if (line >= wantedFirst && line < wantedLast) continue;
      element.remove();
      this.drawn.delete(line);
    }
    const fresh = document.createDocumentFragment();
    for (let line = wantedFirst; line < wantedLast; line++) {
      if (this.drawn.has(line)) continue;
      const element = makeLine(this, line, start);
      this.drawn.set(line, element);
      fresh.append(element);
    }
    this.lines.append(fresh);
  }

  // All cells that exist at present.
  *spans() {
    for (const element of this.drawn.values()) yield* element.querySelectorAll("[data-cell]");
  }

  recolour() {
    for (const span of this.spans()) paintCell(this.app, span);
    this.drawOverview();
  }

  // Pinned token or search hits changed: classes only.
  remark() {
    for (const span of this.spans()) markCell(this.app, this.row, span);
    this.element.classList.toggle("current", this.app.view.sample === this.row.sample);
    this.drawOverview();
  }

  drawOverview() {
    const { app, row } = this;
    const tokens =
      this.mode === "window" && this.window[1] > this.window[0] ? this.shownTokens() : null;
    const pinned = app.view.sample === row.sample ? app.view.token : null;
    this.overview.draw({
      frame: app.frame,
      values: app.colours.values,
      scale: app.colours.scale,
      shown: tokens,
      pinned,
      ink: app.theme.ink,
      line: app.theme.line,
    });
  }

  firstShownToken() {
    return this.mode === "closed" ? 0 : this.shownTokens()[0];
  }

  shownTokens() {
    const { cell } = this.layoutLines;
    const [from, to] = this.window;
    const first = this.app.frame.firstToken[cell[from]];
    const end =
      to < cell.length ? this.app.frame.firstToken[cell[to]] : this.row.token0 + this.row.tokens;
    return [first - this.row.token0, end - 1 - this.row.token0];
  }
}

function exact(value) {
  return value === null ? null : String(value);
}

function figure(name, value, title = null, kind = null) {
  return make("span", {
    class: kind ? `figure ${kind}` : "figure",
    title,
    children: [
      make("span", { class: "dim", text: name }),
      make("span", { class: "number", text: value }),
    ],
  });
}

function more(click) {
  return make("button", { type: "button", class: "more", on: { click } });
}

function setMore(button, count, where) {
  button.hidden = count <= 0;
  button.textContent = `${where === "above" ? "↑" : "↓"} ${count} more ${count === 1 ? "line" : "lines"} ${where}`;
}
