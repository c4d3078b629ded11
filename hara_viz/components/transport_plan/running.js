// The rollout as running text, coloured by cost, or by what flows into one atom. Long rollouts show
// a window around the place that is looked at.

import { cellAt } from "../shared/cells.js";
import { make } from "../token_heatmap/dom.js";
import { PARTS, shareOf } from "./frame.js";

const WINDOW = 3000; // cells

export class RunningText {
  constructor({ point, pick, span }) {
    this.element = make("div", { class: "running", tabindex: "0", role: "region" });
    this.element.setAttribute("aria-label", "The rollout as running text");
    const tokenOf = (event) => {
      const cell = event.target.closest?.("[data-cell]")?.dataset.cell;
      return cell === undefined ? null : this.frame.cells.first[Number(cell)];
    };
    // Dragging over words chooses a span, a click one token.
    this.element.addEventListener("pointerdown", (event) => {
      this.drag = { from: tokenOf(event), moved: false };
    });
    this.element.addEventListener("pointermove", (event) => {
      const token = tokenOf(event);
      const from = event.buttons & 1 ? (this.drag?.from ?? null) : null;
      if (from !== null && token !== null && token !== from) this.drag.moved = true;
      if (from !== null && token !== null && this.drag.moved) span(from, token);
      point(token, event);
    });
    this.element.addEventListener("pointerleave", (event) => point(null, event));
    this.element.addEventListener("click", (event) => {
      const token = tokenOf(event);
      if (token !== null && !this.drag?.moved) pick(token);
      this.drag = null;
    });
  }

  load(frame) {
    this.frame = frame;
    this.build(0);
  }

  build(around) {
    const { texts, special } = this.frame.cells;
    const start = Math.max(0, Math.min(around - WINDOW / 2, texts.length - WINDOW));
    this.start = Math.floor(start);
    this.shown = null;
    this.spans = texts.slice(this.start, this.start + WINDOW).map((text, i) =>
      make("span", {
        "data-cell": this.start + i,
        class: special[this.start + i] ? "special" : null,
        text,
      }),
    );
    const more = (count, where) =>
      count > 0 ? [make("span", { class: "dim", text: ` … ${count} cells ${where} … ` })] : [];
    this.element.replaceChildren(
      ...more(this.start, "before"),
      ...this.spans,
      ...more(texts.length - this.start - this.spans.length, "after"),
    );
  }

  // Colours: `atom` null: a part of the cost by `costScale`; else the share of each token that flows
  // there. What is shown already is left alone: pointing around must not cost thousands of styles.
  colour({ atom, part, costScale, shareScale }) {
    const { frame } = this;
    const key = atom === null ? costScale : `${atom} ${shareScale.css[255]}`;
    if (this.shown === key) return;
    this.shown = key;
    this.spans.forEach((span, i) => {
      const first = frame.cells.first[this.start + i];
      if (!frame.own[first]) {
        span.style.backgroundColor = "";
        return;
      }
      const value = atom === null ? PARTS[part](frame, first) : shareOf(frame, first, atom);
      span.style.backgroundColor = (atom === null ? costScale : shareScale).of(value) ?? "";
    });
  }

  // Marks the cells of a span.
  bracket(span) {
    this.spans.forEach((element, i) => {
      const first = this.frame.cells.first[this.start + i];
      element.classList.toggle("bracketed", span !== null && span.from <= first && first < span.to);
    });
  }

  mark(token, name, scroll) {
    for (const span of this.element.querySelectorAll(`.${name}`)) span.classList.remove(name);
    if (token === null) return;
    const cell = cellAt(this.frame.cells, token);
    if (scroll && (cell < this.start || cell >= this.start + this.spans.length)) this.build(cell);
    const span = this.spans[cell - this.start];
    if (!span) return;
    span.classList.add(name);
    if (scroll) this.reveal(span);
  }

  // Scrolls the text, never the page.
  reveal(span) {
    const box = this.element.getBoundingClientRect();
    const own = span.getBoundingClientRect();
    if (own.top < box.top || own.bottom > box.bottom)
      this.element.scrollTop += own.top - box.top - box.height / 2;
  }
}
