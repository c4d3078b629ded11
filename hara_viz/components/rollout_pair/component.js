// Two rollouts that answer each other: one instance for a mount point, however often Streamlit calls.

import { cellAt, visible } from "../shared/cells.js";
import { FrameError } from "../shared/envelope.js";
import { SharedSelection } from "../shared/selection.js";
import { colourScale, isDark } from "../token_heatmap/colour.js";
import { make } from "../token_heatmap/dom.js";
import { best, counterparts, gapDomain, parsePair } from "./frame.js";

const WINDOW = 2500; // cells of a text
const OUTCOMES = new Map([
  [true, "right"],
  [false, "wrong"],
]);

class RolloutPair {
  constructor(root) {
    this.root = root;
    this.builds = 0;
    this.hover = null;
    this.note = make("div", { class: "dim note", role: "status" });
    this.body = make("div", { class: "sides" });
    this.body.addEventListener("pointermove", (event) => this.point(placeOf(event)));
    this.body.addEventListener("pointerleave", () => this.point(null));
    this.body.addEventListener("click", (event) => this.pick(placeOf(event)));
    root.replaceChildren(this.note, this.body);
    this.selection = new SharedSelection("rollout_pair", () => this.mark());
  }

  dispose() {
    this.selection.dispose();
  }

  show(data) {
    try {
      const frame = data === this.data ? this.frame : parsePair(data);
      this.data = data;
      if (frame.content !== this.frame?.content) this.build(frame);
      else this.colour();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      const text = `The rollouts cannot be shown: ${error.message}. Reload the page; if that does not help, report it.`;
      this.frame = null;
      this.body.replaceChildren(make("p", { class: "error", role: "alert", text }));
      this.root.dataset.ready = "error";
    }
  }

  build(frame) {
    this.frame = frame;
    this.builds += 1;
    this.hover = null;
    this.cells = frame.sides.map(({ cells }) => cells.texts.slice(0, WINDOW).map(cellOf(cells)));
    this.body.replaceChildren(
      ...frame.sides.map((side, place) => {
        const rest = side.cells.texts.length - WINDOW;
        const more = rest > 0 ? make("span", { class: "dim", text: ` … ${rest} cells more` }) : null;
        const title = `Rollout ${side.sample} (${OUTCOMES.get(side.success) ?? "unscored"}): ${side.tokens} tokens`;
        const text = make("div", {
          class: "running",
          "data-side": place,
          tabindex: "0",
          role: "region",
          "aria-label": title,
          children: [...this.cells[place], more],
        });
        return make("div", { children: [make("div", { class: "title", text: title }), text] });
      }),
    );
    this.colour();
    this.mark();
    Object.assign(this.root.dataset, { builds: this.builds, ready: "yes", tokens: "" });
  }

  // Both texts by their gaps, or the one across by what the word pointed at flows into.
  colour() {
    const style = getComputedStyle(this.root);
    const dark = isDark(style.getPropertyValue("--st-background-color").trim() || "#ffffff");
    const gapScale = colourScale(gapDomain(this.frame), false, dark);
    const shares = this.hover && counterparts(this.frame, this.hover.side, this.hover.token);
    const shareScale = shares && colourScale([0, Math.max(...shares, 1e-6)], false, dark);
    this.frame.sides.forEach((side, place) => {
      const isAnswer = shares && place !== this.hover.side;
      this.cells[place].forEach((cell, i) => {
        const first = side.cells.first[i];
        const value = isAnswer ? shares[first] : side.gaps[first];
        const colour = side.own[first] ? (isAnswer ? shareScale : gapScale).of(value) : null;
        cell.style.backgroundColor = colour ?? "";
      });
    });
    this.describe(shares);
  }

  describe(shares) {
    const tokens = shares ? best(shares) : [];
    this.root.dataset.tokens = tokens.join(" ");
    if (!shares) {
      this.note.textContent =
        "Coloured by how far a token lies from its counterparts in the other rollout. Point at a word to see them; click selects it.";
      return;
    }
    const { side, token } = this.hover;
    const word = (from, t) => {
      const { cells } = this.frame.sides[from];
      return visible(cells.texts[cellAt(cells, t)]).trim() || "␣";
    };
    const found = tokens.map((t) => `${word(1 - side, t)} (token ${t}, ${Math.round(100 * shares[t])} %)`);
    const gap = this.frame.sides[side].gaps[token];
    const end = Number.isFinite(gap) ? `; mean distance ${gap.toFixed(3)}` : "";
    this.note.textContent = found.length
      ? `${word(side, token)} (token ${token}) answers to ${found.join(", ")}${end}`
      : `${word(side, token)} (token ${token}) has no mass of its own`;
  }

  point(place) {
    if (!this.frame) return;
    const next = place && { side: place.side, token: this.frame.sides[place.side].cells.first[place.cell] };
    if (next?.side === this.hover?.side && next?.token === this.hover?.token) return;
    this.hover = next;
    this.colour();
  }

  pick(place) {
    if (!place || !this.frame) return;
    const { sample, cells } = this.frame.sides[place.side];
    this.selection.move(sample, cells.first[place.cell]);
    this.mark();
  }

  mark() {
    if (!this.frame) return;
    const { sample, token } = this.selection.now;
    this.frame.sides.forEach((side, place) => {
      const here = side.sample === sample && Number.isInteger(token) && token < side.tokens;
      const pinned = here ? cellAt(side.cells, token) : -1;
      this.cells[place].forEach((cell, i) => cell.classList.toggle("pinned", i === pinned));
    });
  }
}

function cellOf({ special }) {
  return (text, i) => make("span", { "data-cell": i, class: special[i] ? "special" : null, text });
}

function placeOf(event) {
  const cell = event.target.closest?.("[data-cell]")?.dataset.cell;
  const side = event.target.closest?.("[data-side]")?.dataset.side;
  return cell === undefined ? null : { side: Number(side), cell: Number(cell) };
}

const pairs = new WeakMap(); // mount point -> RolloutPair

export default function rolloutPair({ data, parentElement }) {
  const root = parentElement.querySelector(".hrp");
  let pair = pairs.get(parentElement);
  if (pair?.root !== root) {
    pair?.dispose();
    pair = new RolloutPair(root);
    pairs.set(parentElement, pair);
  }
  pair.show(data);
  return () => {
    pair.dispose();
    pairs.delete(parentElement);
  };
}
