// The token heatmap: one instance for a mount point, however often Streamlit calls the entry below.
// `view` is the part of the app's selection that this component shares (names as in
// hara_viz/ui/selection.py); `local` is its own business and is never reported.

import { readAddress } from "./address.js";
import { colourScale, isDark } from "./colour.js";
import { make } from "./dom.js";
import { cellOfToken, FrameError, parseFrame } from "./frame.js";
import { handleKey, keyMap } from "./keys.js";
import { measureKinds } from "./layout.js";
import { find, nextHit } from "./moves.js";
import { QUIET, Reporter, SOURCE } from "./reporter.js";
import { RolloutCard } from "./rollout.js";
import { sectionsOf } from "./sections.js";
import { Toolbar } from "./toolbar.js";
import { Tooltip } from "./tooltip.js";
import { autoDomain, levelValues, signalOf } from "./values.js";

const SHARED = ["sample", "token", "signal", "underline", "granularity", "bounds"];
const COLOURING = ["signal", "underline", "granularity", "bounds"];
const CARD_PADDING = 34; // pixels beside a line of text, and some room for rounding

let active = null; // the heatmap that keys go to, when a page shows several

export class Heatmap {
  constructor(root, host) {
    this.root = root;
    this.reporter = new Reporter(host);
    this.frame = null;
    this.cards = [];
    this.order = [];
    this.builds = 0;
    this.view = { ...readAddress(), ...pickShared(window.haraSelection) };
    this.local = { sort: "sample", marks: false, foldAll: false, allOpen: false };
    this.search = { hits: [], at: -1, cells: new Set() };
    this.theme = { dark: false, ink: "#000", line: "#ccc" };
    this.toolbar = new Toolbar(this.actions());
    this.tooltip = new Tooltip();
    this.list = make("div", { class: "list" });
    this.scroller = make("div", {
      class: "scroller",
      tabindex: "0",
      role: "region",
      "aria-label": "Rollouts as coloured text",
      children: [this.list],
    });
    this.root.replaceChildren(this.toolbar.element, this.scroller, this.tooltip.element);
    this.listen();
  }

  actions() {
    return {
      set: (changes) => this.setView(changes),
      sort: (name) => {
        this.local.sort = name;
        this.arrange();
      },
      marks: () => this.toggleMarks(),
      foldAll: () => this.foldAll(),
      openAll: () => this.openAll(),
      search: (text) => find(this, text),
      nextHit: (direction) => nextHit(this, direction),
      help: () => this.toggleHelp(),
    };
  }

  listen() {
    this.abort = new AbortController();
    const { signal } = this.abort;
    const on = (target, event, listener) =>
      target.addEventListener(event, listener, { signal, passive: event !== "keydown" });
    on(window, "hara:select", (event) => this.hear(event.detail));
    on(window, "popstate", () => this.take(readAddress()));
    on(document, "keydown", (event) => {
      if (this.frame && (active === null || active === this)) handleKey(this, event);
    });
    for (const event of ["pointerenter", "focusin"])
      on(this.root, event, () => {
        active = this;
      });
    on(this.scroller, "scroll", () => this.onScroll());
    on(this.scroller, "pointermove", (event) => this.onHover(event.target));
    on(this.scroller, "pointerleave", () => this.tooltip.hide());
    on(this.scroller, "click", (event) => this.onClick(event.target));
    this.resize = new ResizeObserver(() => this.onResize());
    this.resize.observe(this.scroller);
    // Widths measured before the page's font has come are wrong.
    if (document.fonts) on(document.fonts, "loadingdone", () => this.relayout());
  }

  dispose() {
    this.abort.abort();
    this.resize.disconnect();
    this.reporter.dispose();
    if (active === this) active = null;
  }

  // ---- data -------------------------------------------------------------------------------------

  show(data) {
    try {
      const frame = data === this.data ? null : parseFrame(data);
      this.data = data;
      if (frame === null || frame.content === this.frame?.content) this.retheme();
      else this.load(frame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.fail(
        `The rollouts cannot be drawn: ${error.message}. Reload the page; if that does not help, report it.`,
      );
    }
  }

  fail(sentence) {
    this.frame = null;
    this.cards = [];
    this.list.replaceChildren(make("p", { class: "error", role: "alert", text: sentence }));
    this.root.dataset.ready = "error";
  }

  load(frame) {
    this.frame = frame;
    this.segments = null; // nothing is drawn until the lines of this frame are broken
    this.builds += 1;
    this.longest = Math.max(1, ...frame.rows.map((row) => row.tokens));
    this.search = { hits: [], at: -1, cells: new Set() };
    this.settleView();
    this.readTheme();
    this.recompute();
    this.cards = frame.rows.map((row) => new RolloutCard(this, row));
    this.arrange();
    this.relayout();
    this.remark([this.view.sample]);
    this.scrollToPinned();
    Object.assign(this.root.dataset, { builds: this.builds, content: frame.content, ready: "yes" });
    performance.mark("hth:painted");
  }

  // What does not exist in this frame falls back to what does.
  settleView() {
    const { view, frame } = this;
    if (!signalOf(frame, view.signal))
      Object.assign(view, { signal: frame.signals[0]?.name ?? null, bounds: null });
    if (!signalOf(frame, view.underline)) view.underline = null;
    const row = frame.rows.find((r) => r.sample === view.sample);
    if (!row) Object.assign(view, { sample: null, token: null });
    else if (view.token >= row.tokens) view.token = null;
  }

  recompute() {
    const { frame, view, theme } = this;
    const { granularity } = view;
    const scaleOf = (name, bounds, isLine) => {
      const domain = bounds ?? autoDomain(frame, name, granularity);
      return colourScale(domain, signalOf(frame, name).signed, theme.dark, isLine);
    };
    this.values = levelValues(frame, view.signal, granularity);
    this.scale = scaleOf(view.signal, view.bounds, false);
    this.lineValues = view.underline && levelValues(frame, view.underline, granularity);
    this.lineScale = view.underline && scaleOf(view.underline, null, true);
    this.root.dataset.signal = view.signal;
  }

  readTheme() {
    const style = getComputedStyle(this.root);
    const property = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
    const dark = isDark(property("--st-background-color", "#ffffff"));
    this.theme = { dark, ink: style.color, line: property("--st-border-color", "#cccccc") };
    this.root.dataset.theme = dark ? "dark" : "light";
  }

  retheme() {
    const before = JSON.stringify(this.theme);
    this.readTheme();
    if (this.frame && JSON.stringify(this.theme) !== before) this.recolour();
  }

  // ---- drawing ----------------------------------------------------------------------------------

  onResize() {
    if (this.list.clientWidth !== this.laidOutWidth) this.relayout();
  }

  relayout() {
    if (!this.frame || !this.list.clientWidth) return;
    this.laidOutWidth = this.list.clientWidth;
    const style = getComputedStyle(this.list);
    const lineHeight = Math.round(parseFloat(style.fontSize) * 1.65);
    this.list.style.setProperty("--hth-line-height", `${lineHeight}px`);
    this.metrics = { lineHeight, gap: Math.round(lineHeight * 0.4) };
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    this.segments = measureKinds(
      this.frame.kinds,
      (text) => pen.measureText(text).width,
      this.local.marks,
    );
    this.textWidth = Math.max(160, this.laidOutWidth - CARD_PADDING);
    for (const card of this.cards) card.layout();
    this.renderAll();
  }

  arrange() {
    const sections = sectionsOf(this.cards, this.values, this.local.sort);
    this.order = sections.flatMap((section) => section.cards);
    this.list.replaceChildren(...sections.map((section) => section.element));
    this.renderAll();
    this.showToolbar();
  }

  // Read all positions first, then draw: alternating would lay the page out once for each card.
  renderAll() {
    if (!this.segments) return;
    const box = this.scroller.getBoundingClientRect();
    const tops = this.cards.map((card) => card.lines.getBoundingClientRect().top);
    this.cards.forEach((card, i) => card.render(box.top - tops[i], box.bottom - tops[i]));
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
    const { frame, view, local, scale, lineScale } = this;
    this.toolbar.show({
      frame,
      view,
      local,
      scale,
      lineScale,
      hasThink: frame.rows.some((row) => row.think.length),
    });
  }

  // ---- moves ------------------------------------------------------------------------------------

  // Somebody else moved: follow, and say nothing.
  hear(detail) {
    if (detail && detail.source !== SOURCE) this.take(pickShared(detail));
  }

  take(changes) {
    const before = { ...this.view };
    Object.assign(this.view, changes);
    if (!this.frame) return;
    this.settleView();
    this.afterChange(before);
  }

  // The user's own choice in the toolbar. Bounds are those of one signal at one level.
  setView(changes) {
    const before = { ...this.view };
    const rescaled = ["signal", "granularity"].some(
      (name) => name in changes && changes[name] !== before[name],
    );
    Object.assign(this.view, rescaled ? { bounds: null } : {}, changes);
    this.afterChange(before);
    const { signal, underline, granularity, bounds } = this.view;
    const moved = { signal, underline, granularity, bounds };
    this.reporter.announce(this.view, moved, false);
    this.reporter.tell("view", moved, QUIET);
  }

  afterChange(before) {
    const differs = (name) => String(this.view[name]) !== String(before[name]);
    if (COLOURING.some(differs)) this.recolour();
    else this.showToolbar(); // an unusable bound is put back
    if (differs("sample") || differs("token")) {
      this.remark([before.sample, this.view.sample]);
      this.scrollToPinned();
    }
  }

  // The user's own move to a token, or to a rollout (token null).
  pin(sample, token, delay = QUIET) {
    const before = { ...this.view };
    Object.assign(this.view, { sample, token });
    this.afterChange(before);
    this.reporter.announce(this.view, { sample, token }, sample !== before.sample);
    this.reporter.tell("pick", { sample, token }, delay);
  }

  pinByKey(row, token) {
    this.pin(row.sample, token);
    this.showTip(this.root.querySelector(".pinned"));
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

  // ---- pointer ----------------------------------------------------------------------------------

  onHover(target) {
    const span = target.closest("[data-cell]");
    if (!span) this.tooltip.hide();
    else if (span !== this.hovered || this.tooltip.element.hidden) this.showTip(span);
    this.hovered = span;
  }

  showTip(span) {
    if (!span) return;
    const { row } = this.cardOf(Number(span.closest("article").dataset.sample));
    this.tooltip.show({
      frame: this.frame,
      view: this.view,
      row,
      cell: Number(span.dataset.cell),
      at: span.getBoundingClientRect(),
      frameBox: this.root.getBoundingClientRect(),
    });
  }

  onClick(target) {
    const span = target.closest("[data-cell]");
    // Within a shadow root only the root itself knows what is selected.
    const selection = this.root.getRootNode().getSelection?.() ?? window.getSelection();
    if (!span || !selection.isCollapsed) return; // a reader is marking text to copy it
    const { row } = this.cardOf(Number(span.closest("article").dataset.sample));
    const cell = Number(span.dataset.cell);
    const token = this.isPinned(row, cell) ? null : this.frame.firstToken[cell] - row.token0;
    this.pin(row.sample, token, 0);
  }

  // ---- other choices ----------------------------------------------------------------------------

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

  escape() {
    this.tooltip.hide();
    if (this.help) this.toggleHelp();
    else if (this.view.token !== null) this.pin(this.view.sample, null);
  }

  toggleHelp() {
    this.help?.remove();
    this.help = this.help ? null : keyMap(() => this.toggleHelp());
    if (this.help) this.root.append(this.help);
  }
}

function pickShared(detail) {
  return Object.fromEntries(
    SHARED.filter((name) => detail && name in detail).map((name) => [name, detail[name]]),
  );
}

const instances = new WeakMap(); // mount point -> Heatmap

export default function tokenHeatmap({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".hth");
  let heatmap = instances.get(parentElement);
  if (heatmap?.root !== root) {
    heatmap?.dispose();
    heatmap = new Heatmap(root, { setTriggerValue });
    instances.set(parentElement, heatmap);
  }
  heatmap.reporter.host = { setTriggerValue };
  heatmap.show(data);
  return () => {
    heatmap.dispose();
    instances.delete(parentElement);
  };
}
