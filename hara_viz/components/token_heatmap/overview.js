// The strip beside a rollout's figures: its whole length in colour, to the scale of the longest one.
// It shows where the text below is, the thinking, the answer and the pinned token.

import { make } from "./dom.js";

const HEIGHT = 18;
const COLOURS_TOP = 3;
const COLOURS_HEIGHT = 12;

export class Overview {
  // `go(token)`: a click or drag at a place of the rollout.
  constructor(row, longest, go) {
    this.row = row;
    this.share = longest ? row.tokens / longest : 0;
    this.canvas = make("canvas", { class: "strip", height: HEIGHT, "aria-hidden": "true" });
    this.canvas.style.width = `${Math.max(this.share * 100, 0.5)}%`;
    const move = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
      go(Math.min(row.tokens - 1, Math.floor(share * row.tokens)));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !row.tokens) return;
      this.canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.canvas.hasPointerCapture?.(event.pointerId)) move(event);
    });
  }

  // values: [N] of the group; shown: [first, last] tokens of the row in the window, or null.
  draw({ frame, values, scale, shown, pinned, ink, line }) {
    const { canvas, row } = this;
    const width = canvas.clientWidth;
    if (!width || !row.tokens) return;
    const pen = penOf(canvas, width);
    pen.drawImage(stripOf(row, values, scale, width), 0, COLOURS_TOP, width, COLOURS_HEIGHT);
    pen.strokeStyle = line;
    pen.lineWidth = 1;
    pen.strokeRect(0.5, COLOURS_TOP - 0.5, width - 1, COLOURS_HEIGHT + 1);
    const x = (token) => (token / row.tokens) * width;
    const tokenOf = (cell) => frame.firstToken[row.cell0 + cell] - row.token0;
    pen.fillStyle = ink;
    for (const [first, last] of row.think) {
      pen.globalAlpha = 0.35;
      pen.fillRect(
        x(tokenOf(first)),
        HEIGHT - 2,
        Math.max(1, x(tokenOf(last)) - x(tokenOf(first))),
        2,
      );
    }
    pen.globalAlpha = 1;
    if (row.answer) {
      const middle = x((tokenOf(row.answer[0]) + tokenOf(row.answer[1])) / 2);
      pen.beginPath();
      pen.moveTo(middle - 3.5, 0);
      pen.lineTo(middle + 3.5, 0);
      pen.lineTo(middle, 5);
      pen.fill();
    }
    if (shown) {
      pen.strokeStyle = ink;
      const from = x(shown[0]);
      pen.strokeRect(
        from + 0.5,
        COLOURS_TOP - 1.5,
        Math.max(3, x(shown[1] + 1) - from) - 1,
        COLOURS_HEIGHT + 3,
      );
    }
    if (pinned !== null) pen.fillRect(x(pinned + 0.5) - 1, 0, 2, HEIGHT);
  }
}

// A clean canvas in pixels of the page.
function penOf(canvas, width) {
  const ratio = window.devicePixelRatio || 1;
  const wide = Math.round(width * ratio);
  if (canvas.width !== wide) canvas.width = wide; // setting it costs a new bitmap
  canvas.height = Math.round(HEIGHT * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.imageSmoothingEnabled = false;
  return pen;
}

let sheet = null; // one for all strips

// A picture of two lines, a column for each pixel of the strip. Above: the value farthest from zero
// among the column's tokens, so that a lone peak is not averaged away; below: their mean, so that one
// peak in each column does not make a long rollout look the same all over.
function stripOf(row, values, { pixels, index }, width) {
  const columns = Math.max(1, Math.round(width));
  const picture = new ImageData(columns, 2);
  const colours = new Uint32Array(picture.data.buffer);
  for (let column = 0; column < columns; column++) {
    const from = row.token0 + Math.floor((column / columns) * row.tokens);
    const to = Math.max(from + 1, row.token0 + Math.floor(((column + 1) / columns) * row.tokens));
    const [peak, average] = summary(values, from, to);
    if (Number.isNaN(peak)) continue;
    colours[column] = pixels[index(peak)];
    colours[columns + column] = pixels[index(average)];
  }
  sheet ??= document.createElement("canvas");
  Object.assign(sheet, { width: columns, height: 2 });
  sheet.getContext("2d").putImageData(picture, 0, 0);
  return sheet;
}

// The value farthest from zero, and the mean, of those that are known.
function summary(values, from, to) {
  let peak = NaN;
  let total = 0;
  let known = 0;
  for (let t = from; t < to; t++) {
    const value = values[t];
    if (Number.isNaN(value)) continue;
    if (!(Math.abs(value) <= Math.abs(peak))) peak = value;
    total += value;
    known += 1;
  }
  return [peak, total / known];
}
