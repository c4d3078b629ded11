// Drawing of the matrix, its labels and the costs. Text reaches the canvas by fillText alone: what a
// model wrote is never markup.

import { pixelOf, ticks } from "../shared/view.js";
import { visible } from "../shared/cells.js";
import { shareOf } from "./frame.js";

export const GUTTER = 208; // pixels of atom labels
const MARGIN = 40; // pixels beside the matrix, for the last slanted word
const WORDS_TOP = 78; // above the matrix, when words fit there
const NUMBERS_TOP = 20;
const COSTS = 58;
const GAP = 10;
const READABLE = 12; // pixels a token takes before its word is written above it

// How wide the matrix is on a canvas.
export function plotWidth(width) {
  return Math.max(80, width - GUTTER - MARGIN);
}

// Where things stand, in pixels from the top: pure.
export function boxesOf(nAtoms, view) {
  const rowHeight = Math.max(6, Math.min(20, Math.floor(380 / Math.max(1, nAtoms))));
  const top = view.per >= READABLE ? WORDS_TOP : NUMBERS_TOP;
  const bottom = top + rowHeight * nAtoms;
  return {
    top,
    rowHeight,
    bottom,
    costsTop: bottom + GAP,
    costsBottom: bottom + GAP + COSTS,
    height: bottom + GAP + COSTS + 4,
    withWords: view.per >= READABLE,
  };
}

export function atomAt(boxes, y, nAtoms) {
  const atom = Math.floor((y - boxes.top) / boxes.rowHeight);
  return y >= boxes.top && atom >= 0 && atom < nAtoms ? atom : null;
}

// `scene`: {frame, view, boxes, width, theme, bitmap, domain, span, hover: {token, atom}, pinned,
// pinnedAtom}
export function paint(pen, scene) {
  const { boxes, width, theme } = scene;
  pen.clearRect(0, 0, width, boxes.height);
  pen.font = `12px ${theme.font}`;
  pen.textBaseline = "middle";
  const plot = plotWidth(width);
  within(pen, plot, boxes, () => {
    paintMatrix(pen, scene, plot);
    paintCosts(pen, scene, plot);
    paintSpan(pen, scene);
    paintCross(pen, scene, plot);
  });
  within(pen, width - GUTTER, boxes, () => paintTop(pen, scene, plot));
  paintLabels(pen, scene);
}

// Draw right of the labels, and nowhere else.
function within(pen, width, { height }, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(GUTTER, 0, width, height);
  pen.clip();
  pen.translate(GUTTER, 0);
  draw();
  pen.restore();
}

// Cells from the bitmap; gaps between them once there is room.
function paintMatrix(pen, { frame, view, boxes, bitmap, theme }, width) {
  pen.fillStyle = theme.panel;
  const end = Math.min(width, pixelOf(view, frame.tokens));
  const height = boxes.bottom - boxes.top;
  pen.fillRect(0, boxes.top, end, height);
  if (!bitmap) return;
  const { image, columns } = bitmap;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(image, columns.x, boxes.top, columns.width, height);
  pen.fillStyle = theme.panel;
  if (boxes.rowHeight > 9)
    for (let a = 1; a <= frame.atoms.length; a++)
      pen.fillRect(0, boxes.top + a * boxes.rowHeight - 1, end, 1);
  if (view.per > 5)
    for (let c = 1; c <= columns.count; c++)
      pen.fillRect(columns.x + c * view.per - 1, boxes.top, 1, height);
}

function paintCosts(pen, { frame, view, boxes, theme, domain }, width) {
  const height = boxes.costsBottom - boxes.costsTop;
  const scale = (cost) => Math.min(1, cost / domain[1]) * height;
  const bar = (x, w, feature, structure) => {
    const low = scale(feature);
    const high = scale(feature + structure);
    pen.fillStyle = theme.feature;
    pen.fillRect(x, boxes.costsBottom - low, w, low);
    pen.fillStyle = theme.structure;
    pen.fillRect(x, boxes.costsBottom - high, w, high - low);
  };
  const each = Math.max(1, 1 / view.per); // tokens in a bar
  for (let t = Math.floor(view.from); t < frame.tokens && pixelOf(view, t) < width; t += each) {
    let best = Math.floor(t);
    for (let i = best; i < Math.min(frame.tokens, Math.floor(t + each)); i++)
      if (frame.feature[i] + frame.structure[i] > frame.feature[best] + frame.structure[best])
        best = i;
    if (!frame.own[best]) continue;
    const w = Math.max(1, view.per - (view.per > 5 ? 1 : 0));
    bar(pixelOf(view, Math.floor(t)), w, frame.feature[best], frame.structure[best]);
  }
  pen.fillStyle = theme.line;
  pen.fillRect(0, boxes.costsBottom, width, 1);
}

// A bracket over the span whose ribbons are shown.
function paintSpan(pen, { view, boxes, theme, span }) {
  if (!span) return;
  const x = pixelOf(view, span.from);
  const w = Math.max(2, (span.to - span.from) * view.per);
  pen.fillStyle = theme.structure;
  pen.fillRect(x, boxes.top - 3, w, 2.5);
}

function paintCross(pen, { frame, view, boxes, theme, hover, pinned, pinnedAtom }, width) {
  const mark = (token, alpha) => {
    pen.globalAlpha = alpha;
    pen.strokeStyle = theme.accent;
    pen.lineWidth = 1.5;
    const w = Math.max(2, view.per);
    pen.strokeRect(
      pixelOf(view, token) - 0.75,
      boxes.top - 1.5,
      w + 1.5,
      boxes.costsBottom - boxes.top + 3,
    );
    pen.globalAlpha = 1;
  };
  const line = (atom) => {
    pen.fillStyle = theme.accent;
    pen.globalAlpha = 0.14;
    const end = Math.min(width, pixelOf(view, frame.tokens));
    pen.fillRect(0, boxes.top + atom * boxes.rowHeight, end, boxes.rowHeight);
    pen.globalAlpha = 1;
  };
  if (pinnedAtom !== null) line(pinnedAtom);
  if (hover.atom !== null && hover.atom !== pinnedAtom) line(hover.atom);
  if (hover.token !== null && hover.token !== pinned) mark(hover.token, 0.55);
  if (pinned !== null) mark(pinned, 1);
}

// Words above the columns where they fit, else numbers of tokens.
function paintTop(pen, { frame, view, boxes, theme, pinned }, width) {
  pen.fillStyle = theme.dim;
  if (!boxes.withWords) {
    pen.textAlign = "center";
    for (const t of ticks(view, frame.tokens, width)) {
      const x = pixelOf(view, t + 0.5);
      pen.fillText(String(t), Math.max(12, Math.min(width - 16, x)), boxes.top - 11);
      pen.fillRect(x, boxes.top - 4, 1, 4);
    }
    return;
  }
  pen.textAlign = "left";
  const { first, texts } = frame.cells;
  for (let c = 0; c < texts.length; c++) {
    const x = pixelOf(view, (first[c] + first[c + 1]) / 2);
    if (x < -20 || x > width) continue;
    pen.save();
    pen.translate(x, boxes.top - 5);
    pen.rotate(-Math.PI / 3);
    pen.fillStyle = pinned !== null && first[c] <= pinned && pinned < first[c + 1] ? theme.accent : theme.ink;
    pen.fillText(clipped(pen, visible(texts[c]).trim() || "␣", 74), 0, 0);
    pen.restore();
  }
}

// Each atom's words, and a bar for what the token pointed at sends there.
function paintLabels(pen, { frame, boxes, theme, hover, pinned, pinnedAtom }) {
  const token = hover.token ?? pinned;
  pen.textAlign = "left";
  const size = Math.max(8, Math.min(12, boxes.rowHeight - 1));
  pen.font = `${size}px ${theme.font}`;
  const every = boxes.rowHeight >= 10 ? 1 : Math.ceil(11 / boxes.rowHeight);
  frame.atoms.forEach((atom, a) => {
    const y = boxes.top + (a + 0.5) * boxes.rowHeight;
    const share = token === null || !frame.own[token] ? 0 : shareOf(frame, token, a);
    if (share > 0) {
      pen.fillStyle = theme.accent;
      pen.globalAlpha = 0.28;
      const w = share * (GUTTER - 10);
      pen.fillRect(GUTTER - 6 - w, y - boxes.rowHeight / 2, w, boxes.rowHeight - 1);
      pen.globalAlpha = 1;
    }
    const lit = hover.atom === a || pinnedAtom === a;
    if (a % every && !lit) return;
    pen.fillStyle = theme.dim;
    pen.fillText(String(atom.name), 2, y);
    pen.fillStyle = lit ? theme.accent : theme.ink;
    pen.fillText(clipped(pen, visible(atom.text), GUTTER - 36), 26, y);
  });
  pen.font = `12px ${theme.font}`;
  pen.fillStyle = theme.dim;
  pen.fillText("cost of each token:", 2, boxes.costsTop + 10);
  for (const [i, [name, colour]] of [
    ["feature part", theme.feature],
    ["structure part", theme.structure],
  ].entries()) {
    const y = boxes.costsTop + 28 + 17 * i;
    pen.fillStyle = colour;
    pen.fillRect(2, y - 5, 10, 10);
    pen.fillStyle = theme.dim;
    pen.fillText(name, 18, y);
  }
}

export function clipped(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  let low = 0;
  let high = letters.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${letters.slice(0, middle).join("")}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}
