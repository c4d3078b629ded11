// The token heatmap: one instance for a mount point, however often Streamlit calls the entry below.
// State: `view` is the part of the app's selection that this component shares (names as in
// hara_viz/ui/selection.py); `local` is its own business and is never reported.

import { readAddress, writeAddress } from "./address.js";
import { colourScale, isDark } from "./colour.js";
import { make } from "./dom.js";
import { cellOfToken, FrameError, parseFrame } from "./frame.js";
import { handleKey, keyMap } from "./keys.js";
import { measureKinds } from "./layout.js";
import { RolloutCard } from "./rollout.js";
import { findAll } from "./search.js";
import { Toolbar } from "./toolbar.js";
import { Tooltip } from "./tooltip.js";
import { autoDomain, levelValues, mean, peaksOf, signalOf } from "./values.js";

const SOURCE = "token_heatmap";
const QUIET = 150; // milliseconds without a move before Python hears of it
const SECTIONS = [[true, "✓", "Correct"], [false, "✗", "Incorrect"], [null, "?", "Unscored"]];
const SHARED = ["sample", "token", "signal", "underline", "granularity", "bounds"];

let active = null; // the heatmap that keys go to, when a page shows several

export class Heatmap {
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.frame = null;
    this.cards = [];
    this.builds = 0;
    this.view = { ...readAddress(), ...pickShared(window.haraSelection) };
    this.local = { sort: "sample", marks: false, foldAll: false, allOpen: false };
    this.search = { query: "", hits: [], at: -1 };
    this.timers = new Map();
    this.theme = { dark: false, ink: "#000", line: "#ccc" };
    this.actions = {
      set: (changes) => this.setView(changes),
      sort: (name) => { this.local.sort = name; this.arrange(); this.showToolbar(); },
      marks: () => { this.local.marks = !this.local.marks; this.relayout(); this.showToolbar(); },
      foldAll: () => this.foldAll(),
      openAll: () => this.openAll(),
      search: (text) => this.find(text),
      nextHit: (direction) => this.nextHit(direction),
      help: () => this.toggleHelp(),
    };
    this.buildShell();
    this.listen();
  }

  buildShell() {
    this.toolbar = new Toolbar(this.actions);
    this.tooltip = new Tooltip();
    this.list = make("div", { class: "list" });
    this.scroller = make("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": "Rollouts as coloured text", children: [this.list] });
    this.root.replaceChildren(this.toolbar.element, this.scroller, this.tooltip.element);
  }

  listen() {
    this.abort = new AbortController();
    const { signal } = this.abort;
    const on = (target, event, listener, more = {}) => target.addEventListener(event, listener, { signal, ...more });
    on(window, "hara:select", (event) => this.hear(event.detail));
    on(window, "popstate", () => this.take(readAddress()));
    on(document, "keydown", (event) => {
      const ours = active === this || (active === null && this.root.isConnected);
      if (ours && this.frame) handleKey(this, event);
    });
    on(this.root, "pointerenter", () => { active = this; });
    on(this.root, "focusin", () => { active = this; });
    on(this.scroller, "scroll", () => this.onScroll(), { passive: true });
    on(this.scroller, "pointermove", (event) => this.onHover(event.target), { passive: true });
    on(this.scroller, "pointerleave", () => this.tooltip.hide());
    on(this.scroller, "click", (event) => this.onClick(event.target));
    this.resize = new ResizeObserver(() => this.onResize());
    this.resize.observe(this.scroller);
    document.fonts?.addEventListener?.("loadingdone", () => this.onResize(true), { signal });
  }

  dispose() {
    this.abort.abort();
    this.resize.disconnect();
    for (const timer of this.timers.values()) clearTimeout(timer);
    if (active === this) active = null;
  }

  // ---- data -------------------------------------------------------------------------------------

  show(data) {
    if (data === this.lastData) return this.retheme();
    this.lastData = data;
    try {
      const frame = parseFrame(data);
      if (this.frame?.content === frame.content) return this.retheme();
      this.load(frame);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.fail(`The rollouts cannot be drawn: ${error.message}. Reload the page; if it stays, report it.`);
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
    this.builds += 1;
    this.longest = Math.max(1, ...frame.rows.map((row) => row.tokens));
    this.search = { query: "", hits: [], at: -1, cells: new Map() };
    this.settleView();
    this.readTheme();
    this.recompute();
    this.cards = frame.rows.map((row) => new RolloutCard(this, row));
    this.arrange();
    this.relayout();
    this.showToolbar();
    this.remark();
    if (this.view.token !== null) this.scrollToPinned();
    Object.assign(this.root.dataset, { builds: this.builds, content: frame.content, ready: "yes" });
    performance.mark?.("hth:painted");
  }

  // What does not exist in this frame falls back to what does.
  settleView() {
    const { view, frame } = this;
    if (!signalOf(frame, view.signal)) Object.assign(view, { signal: frame.signals[0]?.name ?? null, bounds: null });
    if (view.underline && !signalOf(frame, view.underline)) view.underline = null;
    const row = frame.rows.find((r) => r.sample === view.sample);
    if (!row) Object.assign(view, { sample: null, token: null });
    else if (view.token !== null && view.token >= row.tokens) view.token = null;
  }

  recompute() {
    const { frame, view, theme } = this;
    const signed = signalOf(frame, view.signal).signed;
    this.values = levelValues(frame, view.signal, view.granularity);
    const domain = view.bounds ?? autoDomain(frame, view.signal, view.granularity);
    this.scale = colourScale(domain, signed, theme.dark);
    this.lineValues = view.underline ? levelValues(frame, view.underline, view.granularity) : null;
    this.lineScale = view.underline
      ? colourScale(autoDomain(frame, view.underline, view.granularity), signalOf(frame, view.underline).signed, theme.dark, true)
      : null;
    this.root.dataset.signal = view.signal;
  }

  readTheme() {
    const style = getComputedStyle(this.root);
    const background = style.getPropertyValue("--st-background-color").trim() || "#ffffff";
    this.theme = { dark: isDark(background), ink: style.color, line: style.getPropertyValue("--hth-line").trim() || "#ccc" };
    this.root.dataset.theme = this.theme.dark ? "dark" : "light";
  }

  retheme() {
    const before = JSON.stringify(this.theme);
    this.readTheme();
    if (this.frame && JSON.stringify(this.theme) !== before) this.recolour();
    this.onResize();
  }

  // ---- drawing ----------------------------------------------------------------------------------

  onResize(fontsChanged = false) {
    if (!this.frame || !this.scroller.clientWidth) return;
    if (fontsChanged || this.list.clientWidth !== this.laidOutWidth) this.relayout();
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
    this.segments = measureKinds(this.frame.kinds, (text) => pen.measureText(text).width, this.local.marks);
    // The cards' padding, and some room for rounding.
    this.textWidth = Math.max(160, this.laidOutWidth - 34);
    for (const card of this.cards) card.layout();
    this.renderAll();
  }

  arrange() {
    const sections = SECTIONS.map(([success, sign, word]) => {
      const cards = this.cards.filter((card) => card.row.success === success).sort((a, b) => this.sortKey(a) - this.sortKey(b) || a.row.sample - b.row.sample);
      if (!cards.length) return null;
      const title = make("h3", { children: [make("span", { class: "verdict", text: sign }), make("span", { text: word }), make("span", { class: "dim", text: `${cards.length} of ${this.cards.length}` })] });
      return make("section", { "aria-label": word, "data-success": String(success), children: [title, ...cards.map((card) => card.element)] });
    });
    this.list.replaceChildren(...sections.filter(Boolean));
    this.order = sections.filter(Boolean).flatMap((section) => [...section.querySelectorAll("article")].map((article) => this.cards.find((card) => card.element === article)));
    this.renderAll();
  }

  // Ascending by number, descending by everything else; unknown last.
  sortKey({ row }) {
    const last = row.token0 + row.tokens;
    const keys = {
      sample: () => row.sample,
      mean: () => -mean(this.values, row.token0, last),
      peak: () => -this.values.slice(row.token0, last).reduce((a, b) => (b > a ? b : a), -Infinity),
      reward: () => -row.reward,
      tokens: () => -row.tokens,
    };
    const key = keys[this.local.sort]();
    return Number.isNaN(key) ? Infinity : key;
  }

  renderAll() {
    if (!this.segments) return;
    const box = this.scroller.getBoundingClientRect();
    const tops = this.cards.map((card) => (card.mode === "closed" ? null : card.lines.getBoundingClientRect().top));
    this.cards.forEach((card, i) => {
      if (tops[i] !== null) card.render(box.top - tops[i], box.bottom - tops[i]);
    });
  }

  onScroll() {
    this.tooltip.hide();
    if (this.scrolling) return;
    this.scrolling = requestAnimationFrame(() => {
      this.scrolling = null;
      this.renderAll();
    });
  }

  recolour() {
    this.recompute();
    for (const card of this.cards) card.recolour();
    this.showToolbar();
  }

  remark() {
    for (const card of this.cards) card.remark();
    Object.assign(this.root.dataset, { sample: this.view.sample ?? "", token: this.view.token ?? "" });
  }

  showToolbar() {
    const hasThink = this.frame.rows.some((row) => row.think.length);
    this.toolbar.show({ frame: this.frame, view: this.view, local: this.local, scale: this.scale, lineScale: this.lineScale, hasThink });
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

  setView(changes) {
    const before = { ...this.view };
    if ("signal" in changes && changes.signal !== this.view.signal) changes.bounds = null;
    if ("granularity" in changes && changes.granularity !== this.view.granularity) changes.bounds = null;
    Object.assign(this.view, changes);
    this.afterChange(before);
    this.announce(changes, false);
    const { signal, underline, granularity, bounds } = this.view;
    this.tell("view", { signal, underline, granularity, bounds }, QUIET);
  }

  afterChange(before) {
    const { view } = this;
    const coloured = ["signal", "underline", "granularity"].some((name) => view[name] !== before[name]) || String(view.bounds) !== String(before.bounds);
    if (coloured) {
      this.recolour();
      if (["mean", "peak"].includes(this.local.sort)) this.arrange();
    }
    if (view.sample !== before.sample || view.token !== before.token) {
      this.remark();
      this.scrollToPinned();
    }
  }

  // The user's own move to a token (or to a rollout: token null).
  pin(sample, token, delay = QUIET) {
    const before = { ...this.view };
    Object.assign(this.view, { sample, token });
    this.afterChange(before);
    this.announce({ sample, token }, sample !== before.sample);
    this.tell("pick", { sample, token }, delay);
  }

  announce(detail, isNewEntry) {
    writeAddress(this.view, isNewEntry);
    window.dispatchEvent(new CustomEvent("hara:select", { detail: { ...detail, source: SOURCE, user: true, reported: true } }));
  }

  // To Python, once the user rests: each report costs a run of the script.
  tell(name, value, delay = 0) {
    clearTimeout(this.timers.get(name));
    const send = () => this.host.setTriggerValue(name, value);
    if (delay) this.timers.set(name, setTimeout(send, delay));
    else send();
  }

  go(row, token) {
    this.pin(row.sample, token);
  }

  cardOf(sample) {
    return this.cards.find((card) => card.row.sample === sample) ?? null;
  }

  current() {
    return this.cardOf(this.view.sample) ?? this.order[0] ?? null;
  }

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
    let target = card.element;
    let [top, bottom] = [0, card.head.offsetHeight];
    if (this.view.token !== null) {
      const cell = this.cellOf(card.row, this.view.token);
      card.bringIn(cell);
      target = card.lines;
      [top, bottom] = card.lineBox(cell);
    }
    const offset = target.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
    const margin = this.metrics.lineHeight * 2;
    if (offset + top < margin) this.scroller.scrollTop += offset + top - margin;
    const over = offset + bottom + margin - this.scroller.clientHeight;
    if (over > 0) this.scroller.scrollTop += over;
    this.renderAll();
    card.remark();
  }

  stepRollout(direction) {
    if (!this.order.length) return;
    const at = this.order.indexOf(this.cardOf(this.view.sample));
    const next = at < 0 ? 0 : (at + direction + this.order.length) % this.order.length;
    this.tooltip.hide();
    this.pin(this.order[next].row.sample, null);
  }

  stepToken(direction) {
    const card = this.current();
    if (!card?.row.tokens) return;
    const { row } = card;
    const from = this.view.sample === row.sample && this.view.token !== null ? this.view.token + direction : card.shownTokens()[0];
    this.keyPin(row, Math.max(0, Math.min(row.tokens - 1, from)));
  }

  stepPeak(direction) {
    const card = this.current();
    if (!card) return;
    const peaks = peaksOf(card.row, this.values);
    const at = this.view.sample === card.row.sample && this.view.token !== null ? this.view.token : direction > 0 ? -1 : card.row.tokens;
    const next = direction > 0 ? peaks.find((t) => t > at) : peaks.findLast((t) => t < at);
    if (next !== undefined) this.keyPin(card.row, next);
  }

  keyPin(row, token) {
    this.pin(row.sample, token);
    this.showTip(this.root.querySelector(".pinned"));
  }

  askPosition() {
    const card = this.current();
    if (!card || this.root.querySelector(".ask")) return;
    const input = make("input", { type: "text", inputmode: "numeric", placeholder: `0 … ${card.row.tokens - 1}`, "aria-label": "Token number" });
    const ask = make("div", { class: "ask", children: [make("span", { text: `#${card.row.sample}, token` }), input] });
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      const token = Number(input.value);
      if (event.key === "Enter" && /^\d+$/.test(input.value.trim()) && token < card.row.tokens) this.keyPin(card.row, token);
      if (["Enter", "Escape"].includes(event.key)) input.blur();
    });
    input.addEventListener("blur", () => ask.remove());
    this.root.append(ask);
    input.focus();
  }

  escape() {
    this.tooltip.hide();
    if (this.help) this.toggleHelp();
    else if (this.view.token !== null) this.pin(this.view.sample, null);
  }

  // ---- pointer ----------------------------------------------------------------------------------

  onHover(target) {
    const span = target.closest?.("[data-cell]");
    if (!span) this.tooltip.hide();
    else if (span !== this.hovered || this.tooltip.element.hidden) this.showTip(span);
    this.hovered = span;
  }

  showTip(span) {
    if (!span) return;
    const cell = Number(span.dataset.cell);
    const card = this.cardOf(Number(span.closest("article").dataset.sample));
    this.tooltip.show({ frame: this.frame, view: this.view, row: card.row, cell, at: span.getBoundingClientRect(), frameBox: this.root.getBoundingClientRect() });
  }

  onClick(target) {
    const span = target.closest?.("[data-cell]");
    if (!span || !window.getSelection().isCollapsed) return; // text is being selected
    const { row } = this.cardOf(Number(span.closest("article").dataset.sample));
    const cell = Number(span.dataset.cell);
    const again = this.isPinned(row, cell);
    this.pin(row.sample, again ? null : this.frame.firstToken[cell] - row.token0, 0);
  }

  // ---- the toolbar's other buttons --------------------------------------------------------------

  cycle(card) {
    const long = card.layoutLines.top.length > 11;
    const next = { closed: long ? "window" : "open", window: "open", open: "closed" };
    card.mode = next[card.mode];
    card.place();
    this.renderAll();
  }

  cycleCurrent() {
    const card = this.current();
    if (card) this.cycle(card);
  }

  openAll() {
    this.local.allOpen = !this.local.allOpen;
    for (const card of this.cards) {
      card.mode = this.local.allOpen ? "open" : "closed";
      card.place();
    }
    this.renderAll();
    this.showToolbar();
  }

  foldAll() {
    this.local.foldAll = !this.local.foldAll;
    for (const card of this.cards) {
      card.unfolded.clear();
      card.layout();
    }
    this.renderAll();
    this.showToolbar();
  }

  focusSearch() {
    this.toolbar.search.focus();
    this.toolbar.search.select();
  }

  find(query) {
    const hits = findAll(this.frame, query);
    const cells = new Set();
    for (const hit of hits) for (let c = hit.first; c <= hit.last; c++) cells.add(c);
    this.search = { query, hits, at: -1, cells };
    this.toolbar.count.textContent = query ? (hits.length ? `${hits.length} found` : "not found") : "";
    for (const card of this.cards) card.remark();
  }

  isHit(_row, cell) {
    return this.search.cells?.has(cell) ?? false;
  }

  nextHit(direction) {
    const { hits } = this.search;
    if (!hits.length) return;
    this.search.at = (this.search.at + direction + hits.length) % hits.length;
    if (this.search.at < 0) this.search.at += hits.length;
    const hit = hits[this.search.at];
    const row = this.frame.rows[hit.row];
    this.toolbar.count.textContent = `${this.search.at + 1} of ${hits.length}`;
    this.pin(row.sample, this.frame.firstToken[hit.first] - row.token0);
  }

  toggleHelp() {
    if (this.help) {
      this.help.remove();
      this.help = null;
      return;
    }
    this.help = keyMap(() => this.toggleHelp());
    this.root.append(this.help);
  }
}

function pickShared(detail) {
  return Object.fromEntries(SHARED.filter((name) => detail && name in detail).map((name) => [name, detail[name]]));
}

const instances = new WeakMap(); // mount point -> Heatmap

export default function tokenHeatmap({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".hth");
  let heatmap = instances.get(parentElement);
  if (!heatmap || heatmap.root !== root) {
    heatmap?.dispose();
    heatmap = new Heatmap(root, { setTriggerValue });
    instances.set(parentElement, heatmap);
  }
  heatmap.host = { setTriggerValue };
  heatmap.show(data);
  return () => {
    heatmap.dispose();
    instances.delete(parentElement);
  };
}
