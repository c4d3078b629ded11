// Ribbons from the words of a span to the atoms they flow into. Text by fillText alone.

import { cellAt, visible } from "../shared/cells.js";
import { make } from "../token_heatmap/dom.js";
import { clipped } from "./paint.js";
import { costOf } from "./frame.js";
import { edgeAt, NOTHING, ribbonAt, ribbonLayout } from "./span.js";

const WORDS = 66; // pixels above
const BAR = 9;
const DEPTH = 118;
const NAME_ROOM = 62;
const LEFT = 34; // room for slanted words
const RIGHT = 72; // an atom's name leans out to the right
const SLICES = 14;

export class Ribbons {
  // `point(place, event)`, `pick(token)`, `pickAtom(atom)`: what the reader does here.
  constructor({ point, pick, pickAtom, sentence }) {
    this.canvas = make("canvas", {
      class: "ribbons",
      role: "img",
      "aria-label": "Ribbons from the tokens of the span to the atoms that they flow to",
    });
    this.label = make("span", { class: "dim" });
    const button = (text, label, step) =>
      make("button", {
        type: "button",
        text,
        title: label,
        "aria-label": label,
        on: { click: () => sentence(step) },
      });
    this.bar = make("div", {
      class: "bar spanbar",
      children: [button("‹", "The sentence before", -1), button("›", "The next sentence", 1), this.label],
    });
    this.canvas.addEventListener("pointermove", (event) => point(this.placeOf(event), event));
    this.canvas.addEventListener("pointerleave", (event) => point(NOTHING, event));
    this.canvas.addEventListener("click", (event) => {
      const { token, atom } = this.placeOf(event);
      if (token !== null) pick(token);
      else if (atom !== null) pickAtom(atom);
    });
  }

  placeOf(event) {
    if (!this.layout) return NOTHING;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left - LEFT;
    const y = event.clientY - box.top;
    const { tokens, atoms, ribbons } = this.layout;
    const inside = ({ x0, x1 }) => x0 - 1 <= x && x <= x1 + 1;
    if (y < WORDS + BAR) return { token: tokens.find(inside)?.token ?? null, atom: null };
    if (y > WORDS + BAR + DEPTH) return { token: null, atom: atoms.find(inside)?.atom ?? null };
    const ribbon = ribbonAt(ribbons, x, (y - WORDS - BAR) / DEPTH);
    return ribbon ? { token: ribbon.token, atom: ribbon.atom } : NOTHING;
  }

  // `scene`: {frame, span, theme, costScale, hover, pinned, pinnedAtom}
  draw(scene) {
    const { frame, span } = scene;
    const { canvas } = this;
    const width = canvas.clientWidth;
    if (!width) return;
    const height = WORDS + BAR + DEPTH + BAR + NAME_ROOM;
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    this.layout = span ? ribbonLayout(frame, span, width - LEFT - RIGHT) : null;
    this.label.textContent = spanWords(frame, span);
    if (!span) return;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.translate(LEFT, 0);
    pen.font = `12px ${scene.theme.font}`;
    pen.textBaseline = "middle";
    paintRibbons(pen, this.layout, scene);
    paintTokens(pen, this.layout, scene);
    paintAtoms(pen, this.layout, scene);
  }
}

function spanWords(frame, span) {
  if (!span) return "";
  return `Where tokens ${span.from}–${span.to - 1} flow. Drag over words, or shift + drag over the matrix, for another span.`;
}

function isLit({ token, atom }, { hover, pinned, pinnedAtom }) {
  if (hover.token !== null && hover.atom !== null) return token === hover.token && atom === hover.atom;
  if (hover.token !== null) return token === hover.token;
  if (hover.atom !== null) return atom === hover.atom;
  return token === pinned || atom === pinnedAtom;
}

function paintRibbons(pen, { ribbons }, scene) {
  for (const ribbon of ribbons) {
    pen.globalAlpha = isLit(ribbon, scene) ? 0.75 : 0.22;
    pen.fillStyle = scene.theme.accent;
    pen.beginPath();
    for (let i = 0; i <= SLICES; i++) line(pen, ribbon, 0, i / SLICES);
    for (let i = SLICES; i >= 0; i--) line(pen, ribbon, 1, i / SLICES);
    pen.fill();
  }
  pen.globalAlpha = 1;
}

function line(pen, ribbon, edge, depth) {
  pen.lineTo(edgeAt(ribbon, edge, depth), WORDS + BAR + depth * DEPTH);
}

function paintTokens(pen, { tokens }, { frame, theme, costScale, hover, pinned }) {
  let free = -Infinity; // to the right of the last word written
  for (const { token, x0, x1 } of tokens) {
    const middle = (x0 + x1) / 2;
    const lit = token === hover.token || token === pinned;
    pen.fillStyle = costScale.of(costOf(frame, token)) ?? theme.panel;
    pen.fillRect(x0, WORDS, Math.max(1, x1 - x0 - 1), BAR);
    pen.strokeStyle = lit ? theme.accent : theme.line;
    pen.strokeRect(x0, WORDS, Math.max(1, x1 - x0 - 1), BAR);
    if (middle < free && !lit) continue;
    free = middle + 13;
    const word = visible(frame.cells.texts[cellAt(frame.cells, token)]).trim() || "␣";
    slanted(pen, word, middle, WORDS - 5, -Math.PI / 3.4, lit ? theme.accent : theme.ink);
  }
}

function paintAtoms(pen, { atoms }, { frame, theme, hover, pinnedAtom }) {
  const top = WORDS + BAR + DEPTH;
  let free = -Infinity;
  for (const { atom, x0, x1 } of atoms) {
    const lit = atom === hover.atom || atom === pinnedAtom;
    pen.fillStyle = lit ? theme.accent : theme.dim;
    pen.fillRect(x0, top, Math.max(1, x1 - x0), BAR);
    const middle = (x0 + x1) / 2;
    if (middle < free && !lit) continue;
    free = middle + 13;
    const { name, text } = frame.atoms[atom];
    const words = `${name} ${visible(text)}`;
    slanted(pen, words, middle - 4, top + BAR + 8, Math.PI / 5, lit ? theme.accent : theme.ink);
  }
}

function slanted(pen, text, x, y, angle, colour) {
  pen.save();
  pen.translate(x, y);
  pen.rotate(angle);
  pen.textAlign = "left";
  pen.fillStyle = colour;
  pen.fillText(clipped(pen, text, angle < 0 ? 72 : 84), 0, 0);
  pen.restore();
}
