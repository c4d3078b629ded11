// The transport plan: one instance for a mount point, however often Streamlit calls the entry below.

import { visible } from "../shared/cells.js";
import { FrameError } from "../shared/envelope.js";
import { SharedSelection } from "../shared/selection.js";
import { clamped, fitted, itemAt, panned, revealed, zoomed } from "../shared/view.js";
import { colourScale, isDark } from "../token_heatmap/colour.js";
import { make } from "../token_heatmap/dom.js";
import { costDomain, mainAtom, parsePlan } from "./frame.js";
import { atomAt, boxesOf, GUTTER, paint } from "./paint.js";
import { RunningText } from "./running.js";
import { tipFor } from "./tooltip.js";

const NOTHING = { token: null, atom: null };
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
    this.title = make("span", {});
    this.colours = make("span", { class: "dim" });
    const button = (text, label, on) =>
      make("button", { type: "button", text, title: label, "aria-label": label, on: { click: on } });
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
    this.canvas = make("canvas", { tabindex: "0", role: "img" });
    this.text = new RunningText({
      point: (token, event) => this.point({ token, atom: null }, event),
      pick: (token) => this.pick(token),
    });
    this.tip = make("div", { class: "tip", role: "tooltip", hidden: true });
    this.spoken = make("div", { class: "spoken", role: "status" });
    root.replaceChildren(this.bar, this.canvas, this.colours, this.text.element, this.tip, this.spoken);
    this.selection = new SharedSelection("transport_plan", () => this.follow());
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.onPointer(event));
    canvas.addEventListener("pointerleave", (event) => this.point(NOTHING, event));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.frame) return;
      this.drag = { x: event.clientX, from: this.view, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => this.onRelease(event));
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.resize = new ResizeObserver(() => this.onResize());
    this.resize.observe(canvas);
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
    if (this.pinnedAtom >= frame.atoms.length) this.pinnedAtom = null;
    this.domain = costDomain(frame);
    this.text.load(frame);
    const outcome = OUTCOMES.get(frame.success) ?? "unscored";
    this.title.textContent = `Rollout ${frame.sample} (${outcome}): ${frame.tokens} tokens → ${frame.atoms.length} atoms`;
    this.canvas.setAttribute("aria-label", `Transport plan. ${this.title.textContent}. Arrow keys move from token to token.`);
    this.readTheme();
    this.onResize();
    this.follow();
    Object.assign(this.root.dataset, { builds: this.builds, content: frame.content, ready: "yes" });
    performance.mark("htp:painted");
  }

  readTheme() {
    const style = getComputedStyle(this.root);
    const property = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
    const dark = isDark(property("--st-background-color", "#ffffff"));
    this.theme = {
      dark,
      ink: style.color,
      dim: property("--st-gray-color", dark ? "#a3a9b5" : "#5b6472"),
      line: property("--st-border-color", dark ? "#333a46" : "#dde1e8"),
      panel: property("--st-secondary-background-color", dark ? "#1d222b" : "#f1f3f6"),
      accent: property("--st-primary-color", dark ? "#7aa5ee" : "#2f5fb3"),
      feature: dark ? "#4d8fd6" : "#4a86c8",
      structure: dark ? "#d99a4e" : "#dc8f3c",
      font: style.fontFamily,
    };
    this.scale = planScale(dark);
    this.costScale = colourScale(this.domain, false, dark);
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
    this.width = Math.max(80, clientWidth - GUTTER);
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
    const { canvas, frame, view, theme, scale, domain, hover, pinnedAtom } = this;
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
    paint(pen, { frame, view, boxes, width, theme, scale, domain, hover, pinned, pinnedAtom });
  }

  colourText() {
    const atom = this.hover.token === null ? (this.hover.atom ?? this.pinnedAtom) : this.pinnedAtom;
    this.text.colour({ atom, costScale: this.costScale, shareScale: this.wordScale });
    this.colours.textContent =
      atom === null
        ? "Text coloured by cost (novelty). Point at an atom to see which words flow into it; click a word or a column to select it; drag to move, ctrl + wheel to zoom."
        : `Text coloured by what flows into atom ${this.frame.atoms[atom].name}: ${visible(this.frame.atoms[atom].text)}`;
    this.root.dataset.atom = atom ?? "";
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
    if (token !== null) this.view = revealed(this.view, token, this.frame.tokens, this.width);
    this.text.mark(token, "pinned", true);
    this.redraw();
    Object.assign(this.root.dataset, { sample: this.frame.sample, token: token ?? "" });
  }

  pick(token) {
    this.selection.move(this.frame.sample, token === this.pinned() ? null : token);
    this.follow();
  }

  // Where the pointer is: {token, atom, label: on an atom's name}.
  placeOf(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left - GUTTER;
    const y = event.clientY - box.top;
    const atom = atomAt(this.boxes, y, this.frame.atoms.length);
    if (x < 0) return { token: null, atom };
    return { token: itemAt(this.view, x, this.frame.tokens), atom };
  }

  onPointer(event) {
    if (!this.frame || !this.boxes) return;
    if (this.drag) {
      const moved = event.clientX - this.drag.x;
      if (Math.abs(moved) > 3) this.drag.moved = true;
      if (this.drag.moved) {
        this.tip.hidden = true;
        this.setView(panned(this.drag.from, moved, this.frame.tokens, this.width));
        return;
      }
    }
    this.point(this.placeOf(event), event);
  }

  onRelease(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved || !this.boxes) return;
    const { token, atom } = this.placeOf(event);
    if (token !== null) this.pick(token);
    else if (atom !== null) {
      this.pinnedAtom = this.pinnedAtom === atom ? null : atom;
      this.redraw();
    }
  }

  onWheel(event) {
    if (!this.frame) return;
    const x = event.clientX - this.canvas.getBoundingClientRect().left - GUTTER;
    if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(-event.deltaY / 300), Math.max(0, x));
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey)
      this.setView(
        panned(this.view, -(event.deltaX || event.deltaY), this.frame.tokens, this.width),
      );
    else return; // the page scrolls
    event.preventDefault();
  }

  onKey(event) {
    if (!this.frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && this.frame.tokens) {
      const at = this.pinned();
      const token = at === null ? 0 : Math.max(0, Math.min(this.frame.tokens - 1, at + step));
      if (token !== at) this.pick(token);
      const atom = mainAtom(this.frame, token);
      const name = atom === null ? "no atom" : `atom ${this.frame.atoms[atom].name}`;
      this.spoken.textContent = `Token ${token}, mostly to ${name}`;
    } else if (event.key === "+") this.zoom(1.6);
    else if (event.key === "-") this.zoom(1 / 1.6);
    else if (event.key === "0") this.setView(fitted(this.frame.tokens, this.width));
    else return;
    event.preventDefault();
    event.stopPropagation();
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

// Shares: a root scale, so that a tenth of the mass can still be seen.
function planScale(dark) {
  const css = Array.from({ length: 256 }, (_, i) => {
    const depth = Math.sqrt(i / 255);
    const [from, to] = dark ? [[24, 30, 42], [122, 190, 255]] : [[236, 242, 250], [21, 74, 150]];
    return `rgb(${from.map((c, j) => Math.round(c + (to[j] - c) * depth)).join(",")})`;
  });
  return { of: (share) => css[Math.round(255 * Math.max(0, Math.min(1, share)))] };
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
