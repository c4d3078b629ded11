// One rollout: a line of figures with its strip, and its text, of which only the lines in sight exist.

import { make } from "./dom.js";
import { layoutRow, lineAt, lineOfCell } from "./layout.js";
import { Overview } from "./overview.js";
import { bestWindow, cellValue, formatted, mean, signalValues } from "./values.js";

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
  constructor(app, row) {
    this.app = app;
    this.row = row;
    this.mode = null; // "window", "open" or "closed"; null until the first layout
    this.unfolded = new Set();
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
        figure("reward", formatted(row.reward)),
        figure("A", formatted(row.advantage, true), "advantage before reweighting"),
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

  // Break the lines anew for a width; keep what is in the window.
  layout() {
    const { app, row } = this;
    this.foldList = this.folds();
    this.layoutLines = layoutRow(app.frame, row, app.segments, app.textWidth, {
      ...app.metrics,
      folds: this.foldList,
    });
    if (this.mode === null)
      this.mode = this.layoutLines.top.length > SHORT_LINES ? "window" : "open";
    this.place();
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
    const line = lineOfCell(this.layoutLines, this.focusCell());
    const from = Math.max(0, Math.min(line - (WINDOW_LINES >> 1) + 1, count - WINDOW_LINES));
    return [from, Math.min(count, from + WINDOW_LINES)];
  }

  // The pinned token's cell, else the middle of the most novel span.
  focusCell() {
    const { app, row } = this;
    if (app.view.sample === row.sample && app.view.token !== null)
      return app.cellOf(row, app.view.token);
    const name = app.frame.channels.has("feature") ? "novelty" : app.view.signal;
    const start = bestWindow(row, signalValues(app.frame, name), SPAN_TOKENS);
    return app.cellOf(row, Math.min(row.tokens - 1, start + (SPAN_TOKENS >> 1)));
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
    const line = lineOfCell(this.layoutLines, cell);
    if (line >= this.window[0] && line < this.window[1] && !region) return;
    this.place();
  }

  flipFold(region) {
    if (!this.unfolded.delete(region)) this.unfolded.add(region);
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
    const top = this.y(lineOfCell(this.layoutLines, cell)) - this.y(this.window[0]);
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
      if (!this.drawn.has(line)) fresh.append(this.makeLine(line, start));
    }
    this.lines.append(fresh);
  }

  makeLine(line, start) {
    const { top, cell, segment, soft, fold } = this.layoutLines;
    const element = make("div", {
      class: "line",
      dir: "auto",
      style: `top:${top[line] - start}px`,
    });
    const region = fold[line] >= 0 ? this.foldList[fold[line]] : null;
    if (region) element.append(this.makeFold(region));
    const ended = line + 1 >= top.length;
    const endCell = ended ? this.row.cell0 + this.row.cells : cell[line + 1];
    const endSegment = ended ? 0 : segment[line + 1];
    let at = region ? this.row.cell0 + region[1] : cell[line];
    let s = segment[line];
    while (at < endCell || (at === endCell && s < endSegment)) {
      const own = this.app.segments[this.app.frame.cells[at]];
      if (s >= own.length) [at, s] = [at + 1, 0];
      else {
        const opens = soft[line] === 1 && at === cell[line] && s === segment[line];
        element.append(this.makeCell(at, own[s], opens));
        s += 1;
      }
    }
    this.drawn.set(line, element);
    return element;
  }

  makeCell(cell, segment, opensLine) {
    const { app, row } = this;
    const span = document.createElement("span");
    // A line that was broken at a space does not show it; with marks on, everything is shown.
    span.textContent =
      opensLine && !app.local.marks ? segment.text.replace(/^ +/, "") : segment.text;
    span.dataset.cell = cell;
    const classes = ["c"];
    if (segment.newline) classes.push("nl");
    if (app.frame.kinds[app.frame.cells[cell]].special) classes.push("special");
    if (row.answer && cell >= row.cell0 + row.answer[0] && cell < row.cell0 + row.answer[1])
      classes.push("answer");
    if (app.isPinned(row, cell)) classes.push("pinned");
    if (app.search.cells.has(cell)) classes.push("hit");
    span.className = classes.join(" ");
    this.paint(span, cell);
    return span;
  }

  paint(span, cell) {
    const { frame, values, scale, lineValues, lineScale } = this.app;
    const fill = cellValue(frame, values, cell);
    span.style.backgroundColor = scale.of(fill) ?? "";
    span.classList.toggle("unknown", Number.isNaN(fill));
    const line = lineScale ? lineScale.of(cellValue(frame, lineValues, cell)) : null;
    span.style.boxShadow = line ? `inset 0 -3px 0 ${line}` : "";
  }

  makeFold([first, last, region]) {
    const { app, row } = this;
    const from = app.frame.firstToken[row.cell0 + first];
    const to = app.frame.firstToken[row.cell0 + last];
    const level = formatted(mean(app.values, from, to), app.scale.signed);
    return make("button", {
      type: "button",
      class: "fold",
      text: `▸ thinking · ${to - from} tokens · mean ${level}`,
      on: {
        click: () => {
          this.flipFold(region);
          this.layout();
          app.renderAll();
        },
      },
    });
  }

  recolour() {
    for (const element of this.drawn.values()) {
      for (const span of element.querySelectorAll("[data-cell]"))
        this.paint(span, Number(span.dataset.cell));
    }
    this.drawOverview();
  }

  // Pinned token or search hits changed: classes only.
  remark() {
    for (const element of this.drawn.values()) {
      for (const span of element.querySelectorAll("[data-cell]")) {
        const cell = Number(span.dataset.cell);
        span.classList.toggle("pinned", this.app.isPinned(this.row, cell));
        span.classList.toggle("hit", this.app.search.cells.has(cell));
      }
    }
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
      values: app.values,
      scale: app.scale,
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
