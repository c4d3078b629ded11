// The rollouts on the screen: their order, lines, colours and marks, and finding them again. What is
// shown is said by `view` (component.js keeps it), `local` and `search`; nothing is reported here.

import { make } from "./dom.js";
import { cellOfToken } from "./frame.js";
import { measureKinds } from "./layout.js";
import { coloursOf, measurerOf, themeOf } from "./look.js";
import { isShown } from "./narrow.js";
import { sectionsOf } from "./sections.js";

const CARD_PADDING = 34; // pixels beside a line of text, and some room for rounding

export class Sheet {
  constructor(root) {
    this.root = root;
    this.frame = null;
    this.cards = [];
    this.order = []; // the cards that are shown
    this.local = { sort: "sample", marks: false, foldAll: false, allOpen: false };
    this.search = { hits: [], at: -1, cells: new Set() };
    this.theme = { dark: false, ink: "#000", line: "#ccc" };
    this.list = make("div", { class: "list" });
    this.scroller = make("div", {
      class: "scroller",
      tabindex: "0",
      role: "region",
      "aria-label": "Rollouts as coloured text",
      children: [this.list],
    });
  }

  recompute() {
    this.colours = coloursOf(this.frame, this.view, this.theme);
    this.root.dataset.signal = this.view.signal;
  }

  readTheme() {
    this.theme = themeOf(this.root);
    this.root.dataset.theme = this.theme.dark ? "dark" : "light";
  }

  retheme() {
    const before = JSON.stringify(this.theme);
    this.readTheme();
    if (this.frame && JSON.stringify(this.theme) !== before) this.recolour();
  }

  onResize() {
    if (this.list.clientWidth !== this.laidOutWidth) this.relayout();
  }

  relayout() {
    if (!this.frame || !this.list.clientWidth) return;
    this.laidOutWidth = this.list.clientWidth;
    this.metrics = measurerOf(this.list);
    this.list.style.setProperty("--hth-line-height", `${this.metrics.lineHeight}px`);
    this.segments = measureKinds(this.frame.kinds, this.metrics.width, this.local.marks);
    this.textWidth = Math.max(160, this.laidOutWidth - CARD_PADDING);
    for (const card of this.cards) card.layout();
    this.renderAll();
    this.arrive();
  }

  // Go to what the link names, once there is something to see: a tab may be hidden at first.
  arrive() {
    if (this.arrived || !this.segments) return;
    this.arrived = true;
    this.scrollToPinned();
  }

  arrange() {
    const isIn = ({ row }) => isShown(this, row);
    const sections = sectionsOf(this.cards, this.colours.values, this.local.sort, isIn);
    this.order = sections.flatMap((section) => section.cards);
    this.list.replaceChildren(...sections.map((section) => section.element));
    this.renderAll();
    this.showToolbar();
  }

  // Rollouts come and go with the filter, the lasso and the pin. A strip has no width while it is out
  // of the page, so it is drawn on coming back.
  narrow() {
    const wanted = this.cards.filter(({ row }) => isShown(this, row));
    const isSame = wanted.length === this.order.length && wanted.every((c) => this.order.includes(c));
    if (isSame) return;
    this.arrange();
    if (this.segments) for (const card of wanted) card.drawOverview();
  }

  // Read all positions first, then draw: alternating would lay the page out once for each card.
  renderAll() {
    if (!this.segments) return;
    const box = this.scroller.getBoundingClientRect();
    const tops = this.order.map((card) => card.lines.getBoundingClientRect().top);
    this.order.forEach((card, i) => card.render(box.top - tops[i], box.bottom - tops[i]));
  }

  onScroll() {
    this.tooltip.hide();
    this.scrolling ??= requestAnimationFrame(() => {
      this.scrolling = null;
      this.renderAll();
    });
  }

  recolour() {
    this.recompute();
    for (const card of this.cards) card.recolour();
    if (["mean", "peak"].includes(this.local.sort)) this.arrange();
    else this.showToolbar();
  }

  // The pin moved from one rollout to another (or within one): only they change.
  remark(samples) {
    for (const card of this.cards) if (samples.includes(card.row.sample)) card.remark();
    Object.assign(this.root.dataset, {
      sample: this.view.sample ?? "",
      token: this.view.token ?? "",
    });
  }

  showToolbar() {
    const { frame, view, local, colours } = this;
    this.toolbar.show(frame, view, local, colours);
  }

  cardOf(sample) {
    return this.cards.find((card) => card.row.sample === sample) ?? null;
  }

  // The rollout that keys act on.
  current() {
    return this.cardOf(this.view.sample) ?? this.order[0] ?? null;
  }

  // `row` and tokens within it -> cells of the whole group.
  cellOf(row, token) {
    return row.tokens ? cellOfToken(this.frame, row.token0 + token) : row.cell0;
  }

  isPinned(row, cell) {
    if (row.sample !== this.view.sample || this.view.token === null) return false;
    const token = row.token0 + this.view.token;
    return this.frame.firstToken[cell] <= token && token < this.frame.firstToken[cell + 1];
  }

  scrollToPinned() {
    const card = this.cardOf(this.view.sample);
    if (!card || !this.segments) return;
    const [target, top, bottom] = card.placeOf(this.view.token);
    const offset = target.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
    const margin = this.metrics.lineHeight * 2;
    const under = offset + top - margin;
    const over = offset + bottom + margin - this.scroller.clientHeight;
    if (under < 0) this.scroller.scrollTop += under;
    else if (over > 0) this.scroller.scrollTop += Math.min(over, under);
    this.renderAll();
  }

  toggleMarks() {
    this.local.marks = !this.local.marks;
    this.relayout();
    this.showToolbar();
  }

  cycle(card) {
    card?.cycle();
    this.renderAll();
  }

  openAll() {
    this.local.allOpen = !this.local.allOpen;
    for (const card of this.cards) card.setMode(this.local.allOpen ? "open" : "closed");
    this.renderAll();
    this.showToolbar();
  }

  foldAll() {
    this.local.foldAll = !this.local.foldAll;
    for (const card of this.cards) card.refold();
    this.renderAll();
    this.showToolbar();
  }
}
