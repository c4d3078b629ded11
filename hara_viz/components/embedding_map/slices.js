// The same points on several maps: a slider turns from one to the next, and the points wander. One
// extent for all, so that the axes stay.

import { make } from "../token_heatmap/dom.js";
import { extentOf } from "./space.js";

const WANDER = 600; // ms from one map to the next
const REST = 1100; // ms on a map while all of them are played

export class SliceBar {
  // `onPlaces(places, isAtRest)` is called with {x, y} for each step of the way and at its end.
  constructor(onPlaces) {
    this.onPlaces = onPlaces;
    this.at = 0;
    this.slider = make("input", {
      type: "range",
      min: 0,
      step: 1,
      "aria-label": "Checkpoint whose map is shown",
      on: {
        input: () => {
          this.stop();
          this.go(Number(this.slider.value));
        },
        keydown: (event) => event.stopPropagation(), // arrows move the slider, not the token
      },
    });
    this.name = make("b", {});
    this.of = make("span", { class: "dim" });
    this.button = make("button", { type: "button", on: { click: () => (this.playing ? this.stop() : this.play()) } });
    const children = [make("span", { class: "dim", text: "Read by" }), this.slider, this.name, this.of, this.button];
    this.root = make("div", { class: "bar slices", hidden: true, children });
    this.showButton();
  }

  // The places to show of a frame; the map that was turned to stays if the points are the same.
  take(frame, isSame) {
    this.stop();
    this.rest();
    this.slices = frame.slices;
    this.root.hidden = !frame.slices.length;
    this.extent = frame.slices.length ? joined(frame.slices.map(({ x, y }) => extentOf(x, y))) : null;
    if (!frame.slices.length) return null;
    this.at = isSame ? Math.min(this.at, frame.slices.length - 1) : frame.slice;
    this.slider.max = frame.slices.length - 1;
    this.now = this.slices[this.at];
    this.say();
    return this.now;
  }

  go(at) {
    if (at === this.at || !this.slices[at]) return;
    this.at = at;
    this.say();
    const [from, to, begun] = [this.now, this.slices[at], performance.now()];
    cancelAnimationFrame(this.frame);
    const isStill = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = (time) => {
      const share = isStill ? 1 : Math.min(1, Math.max(0, time - begun) / WANDER);
      this.now = share < 1 ? between(from, to, eased(share)) : to;
      this.onPlaces(this.now, share === 1);
      this.frame = share < 1 ? requestAnimationFrame(step) : null;
    };
    this.frame = requestAnimationFrame(step);
  }

  play() {
    const turn = () => {
      if (this.at === this.slices.length - 1) return this.stop();
      this.go(this.at + 1);
      this.playing = setTimeout(turn, WANDER + REST);
    };
    if (this.at === this.slices.length - 1) this.go(0);
    this.playing = setTimeout(turn, this.frame ? WANDER + REST : 0);
    this.showButton();
  }

  stop() {
    clearTimeout(this.playing);
    this.playing = null;
    this.showButton();
  }

  rest() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
  }

  dispose() {
    this.stop();
    this.rest();
  }

  say() {
    const { name } = this.slices[this.at];
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", name);
    this.name.textContent = name;
    this.of.textContent = `${this.at + 1} of ${this.slices.length}`;
  }

  showButton() {
    const [text, label] = this.playing ? ["stop", "Stay on this map"] : ["play", "Turn through all of them"];
    this.button.textContent = text;
    this.button.title = label;
    this.button.setAttribute("aria-label", `${text}: ${label}`);
  }
}

export function eased(share) {
  return share * share * (3 - 2 * share);
}

export function between(from, to, share) {
  const mixed = (a, b) => Float32Array.from(a, (value, i) => value + (b[i] - value) * share);
  return { x: mixed(from.x, to.x), y: mixed(from.y, to.y) };
}

export function joined(extents) {
  const of = (name, choose) => choose(...extents.map((extent) => extent[name]));
  return { left: of("left", Math.min), right: of("right", Math.max), low: of("low", Math.min), high: of("high", Math.max) };
}
