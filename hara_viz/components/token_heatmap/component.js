// The token heatmap: one instance for a mount point, however often Streamlit calls the entry below.
// `asked` is the view that was asked for last, by a link, another view or the user; `view` is what
// of it exists in the present frame (the answer to a click elsewhere may come before its rollouts
// do); `local` is this component's own business and is never reported.

import { readAddress } from "./address.js";
import { make } from "./dom.js";
import { FrameError } from "../shared/envelope.js";
import { parseFrame, sameText } from "./frame.js";
import { handleKey, keyMap } from "./keys.js";
import { find, nextHit } from "./moves.js";
import { lassoIn } from "./narrow.js";
import { Pointer } from "./pointer.js";
import { QUIET, Reporter, SOURCE } from "./reporter.js";
import { RolloutCard } from "./rollout.js";
import { Sheet } from "./sheet.js";
import { Toolbar } from "./toolbar.js";
import { spokenOf, Tooltip } from "./tooltip.js";
import { addSignal, parseSignal } from "./signal_frame.js";
import { initialView, settled, sharedOf, wished } from "./view.js";

const COLOURING = ["signal", "underline", "granularity", "bounds"];

const alive = new Set();
let active = null; // the heatmap that keys go to, when a page shows several

export class Heatmap extends Sheet {
  constructor(root, host) {
    super(root);
    this.reporter = new Reporter(host);
    this.builds = 0;
    this.asked = initialView();
    this.view = { ...this.asked, awaited: {} };
    this.lassoed = window.haraLasso?.tokens ?? [];
    this.toolbar = new Toolbar(this.actions());
    this.tooltip = new Tooltip();
    this.pointer = new Pointer(this);
    this.spoken = make("div", { class: "spoken", role: "status" });
    this.root.replaceChildren(
      this.toolbar.element,
      this.scroller,
      this.tooltip.element,
      this.spoken,
    );
    alive.add(this);
    active ??= this;
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
    on(window, "hara:signal", (event) => this.hearSignal(event.detail));
    on(window, "hara:lasso", (event) => this.hearLasso(event.detail.tokens));
    on(window, "popstate", () => this.take(readAddress()));
    on(document, "keydown", (event) => {
      if (this.frame && active === this) handleKey(this, event);
    });
    for (const event of ["pointerenter", "focusin"])
      on(this.root, event, () => {
        active = this;
      });
    on(this.scroller, "scroll", () => this.onScroll());
    on(this.scroller, "pointermove", (event) => this.pointer.hover(event.target));
    on(this.scroller, "pointerleave", () => this.tooltip.hide());
    on(this.scroller, "click", (event) => this.pointer.click(event.target));
    this.resize = new ResizeObserver(() => this.onResize());
    this.resize.observe(this.scroller);
    // Widths measured before the page's font has come are wrong.
    if (document.fonts) on(document.fonts, "loadingdone", () => this.relayout());
  }

  dispose() {
    this.abort.abort();
    this.resize.disconnect();
    this.reporter.dispose();
    alive.delete(this);
    if (active === this) active = [...alive][0] ?? null;
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

  // The same rollouts under another credit keep what the reader opened, and where they were.
  load(frame) {
    if (!frame.signals.length) throw new FrameError("it has no signal to show");
    const before = this.frame && sameText(this.frame, frame) ? this.cards : [];
    const { scrollTop } = this.scroller;
    this.frame = frame;
    this.arrived = true; // not before the cards are there
    this.segments = null; // nothing is drawn until the lines of this frame are broken
    this.builds += 1;
    this.longest = Math.max(1, ...frame.rows.map((row) => row.tokens));
    if (!before.length) this.search = { hits: [], at: -1, cells: new Set() };
    for (const bytes of window.haraSignals ?? []) this.addFurther(bytes);
    this.view = settled(this.asked, frame, this.view);
    this.lasso = lassoIn(frame, this.lassoed);
    this.readTheme();
    this.recompute();
    this.cards = frame.rows.map((row, i) => new RolloutCard(this, row, before[i]?.opened()));
    this.arrange();
    this.relayout();
    this.remark([this.view.sample]);
    if (before.length) this.scroller.scrollTop = scrollTop;
    this.renderAll();
    this.arrived = before.length > 0;
    this.arrive();
    Object.assign(this.root.dataset, { builds: this.builds, content: frame.content, ready: "yes" });
    performance.mark("hth:drawn");
  }

  // A further signal has come. One that is damaged is missed, but nothing else.
  addFurther(bytes) {
    try {
      return addSignal(this.frame, parseSignal(bytes));
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.toolbar.showNote(`A signal cannot be shown: ${error.message}.`);
      return false;
    }
  }

  hearSignal(bytes) {
    if (!this.frame || !this.addFurther(bytes)) return;
    this.look();
    this.showToolbar();
  }

  // A map beside: its lasso is outlined, and only its rollouts are shown.
  hearLasso(tokens) {
    this.lassoed = tokens;
    if (!this.frame) return;
    this.lasso = lassoIn(this.frame, tokens);
    this.narrow();
    for (const card of this.order) card.focusLasso();
    this.renderAll();
    for (const card of this.order) card.remark();
  }

  // ---- moves ------------------------------------------------------------------------------------

  // Somebody else moved: follow, and say nothing.
  hear(detail) {
    if (detail && detail.source !== SOURCE) this.take(sharedOf(detail));
  }

  take(changes) {
    Object.assign(this.asked, changes);
    if (this.frame) this.look();
  }

  // Show what is asked for now.
  look() {
    const before = this.view;
    this.view = settled(this.asked, this.frame, before);
    this.afterChange(before);
  }

  // The user's own choice in the toolbar. Bounds are those of one signal at one level.
  setView(changes) {
    const locked = this.frame.offers.find(
      ({ name, locked }) => locked && [changes.signal, changes.underline].includes(name),
    );
    if (locked) this.toolbar.showNote(`${locked.label}: ${locked.locked}`);
    // An unusable choice is put back.
    if (locked || !Object.keys(changes).length) return this.showToolbar();
    this.toolbar.showNote("");
    const rescaled = ["signal", "granularity"].some(
      (name) => name in changes && changes[name] !== this.asked[name],
    );
    Object.assign(this.asked, rescaled ? { bounds: null } : {}, changes);
    this.look();
    this.showToolbar();
    const { signal, underline, granularity, bounds } = wished(this.view, this.asked);
    const moved = { signal, underline, granularity, bounds };
    this.reporter.announce(wished(this.view, this.asked), moved, false);
    this.reporter.tell("view", moved, QUIET);
  }

  afterChange(before) {
    const differs = (name) => String(this.view[name]) !== String(before[name]);
    if (COLOURING.some(differs)) this.recolour();
    this.narrow();
    if (differs("sample") || differs("token")) {
      this.remark([before.sample, this.view.sample]);
      this.scrollToPinned();
    }
  }

  // The user's own move to a token, or to a rollout (token null).
  pin(sample, token, delay = QUIET) {
    const isNewEntry = sample !== this.view.sample;
    this.take({ sample, token });
    const view = wished(this.view, this.asked);
    const linked = this.reporter.announce(view, { sample, token }, isNewEntry);
    this.reporter.tell("pick", { sample, token, linked }, delay);
  }

  pinByKey(row, token) {
    this.pin(row.sample, token);
    const span = this.root.querySelector(".pinned");
    if (span) this.pointer.tell(span);
    this.spoken.textContent = spokenOf(this.frame, this.view, row, this.cellOf(row, token));
  }

  // ---- other choices ----------------------------------------------------------------------------

  escape() {
    this.tooltip.hide();
    if (this.help) this.toggleHelp();
    else if (this.view.token !== null) this.pin(this.view.sample, null);
  }

  toggleHelp() {
    this.help?.remove();
    this.help = this.help ? null : keyMap(this, () => this.toggleHelp());
    if (this.help) this.root.append(this.help);
  }
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
