// The transport plan: one instance for a mount point, however often Streamlit calls the entry below.

import { visible } from "../shared/cells.js";
import { FrameError } from "../shared/envelope.js";
import { SharedSelection } from "../shared/selection.js";
import { clamped, fitted, revealed, zoomed } from "../shared/view.js";
import { colourScale } from "../token_heatmap/colour.js";
import { make } from "../token_heatmap/dom.js";
import { costDomain, parsePlan } from "./frame.js";
import { MatrixBitmap } from "./matrix.js";
import { boxesOf, paint, plotWidth } from "./paint.js";
import { listen } from "./pointing.js";
import { Ribbons } from "./ribbons.js";
import { RunningText } from "./running.js";
import { dearestSentence, neighbour, NOTHING, sentenceAt, spanOf } from "./span.js";
import { themeOf } from "./theme.js";
import { tipFor } from "./tooltip.js";

const TEXT_PARTS = [
  ["cost", "cost"],
  ["feature", "feature part"],
  ["structure", "structure part"],
];
const OUTCOMES = new Map([
  [true, "right"],
  [false, "wrong"],
]);

export class TransportPlan {
  constructor(root) {
    this.root = root;
    this.builds = 0;
    this.hover = NOTHING;
    this.pinnedAtom = null;
    this.part = "cost";
    this.bitmap = new MatrixBitmap();
    this.title = make("span", {});
    const button = (text, label, on) =>
      // What is read aloud holds what is seen.
      make("button", { type: "button", text, title: label, "aria-label": `${text}: ${label}`, on: { click: on } });
    this.bar = make("div", {
      class: "bar",
      children: [
        this.title,
        make("span", { class: "spring" }),
        button("−", "Zoom out", () => this.zoom(1 / 1.6)),
        button("+", "Zoom in", () => this.zoom(1.6)),
        button("fit", "Show the whole rollout", () => this.setView(fitted(this.frame.tokens, this.width))),
      ],
    });
    this.canvas = make("canvas", { class: "matrix", tabindex: "0", role: "img" });
    this.text = new RunningText({
      point: (token, event) => this.point({ token, atom: null }, event),
      pick: (token) => this.pick(token),
      span: (a, b) => this.setSpan(spanOf(a, b)),
    });
    this.ribbons = new Ribbons({
      point: (place, event) => this.point(place, event),
      pick: (token) => this.pick(token),
      pickAtom: (atom) => this.pickAtom(atom),
      sentence: (step) => this.frame && this.setSpan(neighbour(this.frame, this.span, step)),
    });
    this.buildColours();
    this.tip = make("div", { class: "tip", role: "tooltip", hidden: true });
    this.spoken = make("div", { class: "spoken", role: "status" });
    root.replaceChildren(
      this.bar,
      this.canvas,
      this.colourBar,
      this.text.element,
      this.ribbons.bar,
      this.ribbons.canvas,
      this.tip,
      this.spoken,
    );
    this.selection = new SharedSelection("transport_plan", () => this.follow());
    listen(this);
  }

  // Which part of the cost the text is coloured by.
  buildColours() {
    this.colours = make("span", { class: "dim" });
    this.partButtons = TEXT_PARTS.map(([part, text]) =>
      make("button", { type: "button", text, "data-part": part, on: { click: () => this.colourBy(part) } }),
    );
    this.colourBar = make("div", {
      class: "bar parts",
      children: [make("span", { class: "dim", text: "Text by" }), ...this.partButtons, this.colours],
    });
  }

  colourBy(part) {
    this.part = part;
    if (!this.frame) return;
    this.costScale = colourScale(costDomain(this.frame, part), false, this.theme.dark);
    this.redraw();
  }

  dispose() {
    this.resize.disconnect();
    this.selection.dispose();
  }

  // ---- data -------------------------------------------------------------------------------------

  show(data) {
    try {
      const frame = data === this.data ? this.frame : parsePlan(data);
      this.data = data;
      if (frame.content !== this.frame?.content) this.load(frame);
      else this.retheme();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      const text = `The plan cannot be drawn: ${error.message}. Reload the page; if that does not help, report it.`;
      this.frame = null;
      this.text.element.replaceChildren(make("p", { class: "error", role: "alert", text }));
      this.root.dataset.ready = "error";
    }
  }

  // The same rollout under another config keeps the zoom.
  load(frame) {
    const same = this.frame?.sample === frame.sample && this.frame.tokens === frame.tokens;
    this.frame = frame;
    this.builds += 1;
    this.hover = NOTHING;
    if (!same) this.view = null;
    if (!same || !this.span) this.span = dearestSentence(frame);
    if (this.pinnedAtom >= frame.atoms.length) this.pinnedAtom = null;
    this.domain = costDomain(frame);
    this.text.load(frame);
    const outcome = OUTCOMES.get(frame.success) ?? "unscored";
    this.title.textContent = `Rollout ${frame.sample} (${outcome}): ${frame.tokens} tokens → ${frame.atoms.length} atoms`;
    this.canvas.setAttribute("aria-label", `Transport plan. ${this.title.textContent}. Arrow keys move from token to token, brackets from sentence to sentence.`);
    this.readTheme();
    this.onResize();
    this.follow();
    Object.assign(this.root.dataset, { builds: this.builds, content: frame.content, ready: "yes" });
    performance.mark("htp:painted");
  }

  readTheme() {
    this.theme = themeOf(this.root);
    const { dark } = this.theme;
    this.costScale = colourScale(costDomain(this.frame, this.part), false, dark);
    this.wordScale = colourScale([0, 1], false, dark); // pale enough for text on it
    this.root.dataset.theme = dark ? "dark" : "light";
  }

  retheme() {
    if (!this.frame) return;
    const before = JSON.stringify(this.theme);
    this.readTheme();
    if (JSON.stringify(this.theme) !== before) this.redraw();
  }

  // ---- drawing ----------------------------------------------------------------------------------

  onResize() {
    const { clientWidth } = this.canvas;
    if (!this.frame || !clientWidth) return;
    this.width = plotWidth(clientWidth);
    this.view = clamped(this.view ?? fitted(this.frame.tokens, this.width), this.frame.tokens, this.width);
    this.redraw();
  }

  setView(view) {
    if (!this.frame) return;
    this.view = clamped(view, this.frame.tokens, this.width);
    this.draw();
  }

  zoom(factor, x = this.width / 2) {
    if (this.frame) this.setView(zoomed(this.view, x, factor, this.frame.tokens, this.width));
  }

  redraw() {
    this.draw();
    this.colourText();
  }

  draw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      if (this.frame && this.view) this.paint();
    });
  }

  paint() {
    const { canvas, frame, view, theme, domain, hover, pinnedAtom, span } = this;
    const boxes = boxesOf(frame.atoms.length, view);
    this.boxes = boxes;
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    canvas.style.height = `${boxes.height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(boxes.height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const pinned = this.pinned();
    const bitmap = this.bitmap.of(frame, view, this.width, theme.dark);
    paint(pen, { frame, view, boxes, width, theme, bitmap, domain, span, hover, pinned, pinnedAtom });
    const { costScale } = this;
    this.ribbons.draw({ frame, span, theme, costScale, hover, pinned, pinnedAtom });
  }

  colourText() {
    const atom = this.hover.token === null ? (this.hover.atom ?? this.pinnedAtom) : this.pinnedAtom;
    const { part, costScale, wordScale } = this;
    this.text.colour({ atom, part, costScale, shareScale: wordScale });
    this.text.bracket(this.span);
    for (const button of this.partButtons)
      button.setAttribute("aria-pressed", String(atom === null && button.dataset.part === part));
    this.colours.textContent =
      atom === null
        ? "Point at an atom to see which words flow into it; click selects; ctrl + wheel zooms, dragging moves."
        : `now by what flows into atom ${this.frame.atoms[atom].name}: ${visible(this.frame.atoms[atom].text)}`;
    this.root.dataset.atom = atom ?? "";
    this.root.dataset.span = this.span ? `${this.span.from}-${this.span.to}` : "";
  }

  // ---- moves ------------------------------------------------------------------------------------

  pinned() {
    const { sample, token } = this.selection.now;
    const inside = sample === this.frame.sample && Number.isInteger(token) && token < this.frame.tokens;
    return inside ? token : null;
  }

  follow() {
    if (!this.frame || !this.view) return;
    const token = this.pinned();
    if (token !== null) {
      this.view = revealed(this.view, token, this.frame.tokens, this.width);
      if (!this.span || token < this.span.from || token >= this.span.to)
        this.span = sentenceAt(this.frame, token) ?? this.span;
    }
    this.text.mark(token, "pinned", true);
    this.redraw();
    Object.assign(this.root.dataset, { sample: this.frame.sample, token: token ?? "" });
  }

  setSpan(span) {
    if (!span) return;
    this.span = span;
    this.redraw();
  }

  pickAtom(atom) {
    this.pinnedAtom = this.pinnedAtom === atom ? null : atom;
    this.redraw();
  }

  pick(token) {
    this.selection.move(this.frame.sample, token === this.pinned() ? null : token);
    this.follow();
  }

  point(place, event) {
    if (!this.frame || (place.token === this.hover.token && place.atom === this.hover.atom)) return;
    this.hover = place;
    this.redraw();
    this.text.mark(place.token, "lit", false);
    this.tip.hidden = place.token === null && place.atom === null;
    if (this.tip.hidden) return;
    this.tip.replaceChildren(...tipFor(this.frame, place.token, place.atom));
    const box = this.root.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.tip;
    const left = Math.max(4, Math.min(event.clientX - box.left + 14, box.width - offsetWidth - 4));
    const below = event.clientY + 18 + offsetHeight < window.innerHeight;
    const top = event.clientY - box.top + (below ? 18 : -offsetHeight - 12);
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}

const plans = new WeakMap(); // mount point -> TransportPlan

export default function transportPlan({ data, parentElement }) {
  const root = parentElement.querySelector(".htp");
  let plan = plans.get(parentElement);
  if (plan?.root !== root) {
    plan?.dispose();
    plan = new TransportPlan(root);
    plans.set(parentElement, plan);
  }
  plan.show(data);
  return () => {
    plan.dispose();
    plans.delete(parentElement);
  };
}
