// The strip beside a rollout's figures: its whole length in colour, to the scale of the longest one.
// It shows where the text below is, the thinking, the answer and the pinned token.

import { make } from "./dom.js";
import { mean } from "./values.js";

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
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width, HEIGHT);
    paintValues(pen, row, values, scale, width);
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

// One column of pixels at a time. Above: the value farthest from zero among the column's tokens, so
// that a lone peak is not averaged away; below: their mean, so that one peak in each column does not
// make a long rollout look the same all over.
function paintValues(pen, row, values, scale, width) {
  const columns = Math.max(1, Math.round(width));
  for (let column = 0; column < columns; column++) {
    const from = row.token0 + Math.floor((column / columns) * row.tokens);
    const to = Math.max(from + 1, row.token0 + Math.floor(((column + 1) / columns) * row.tokens));
    let peak = NaN;
    for (let t = from; t < to; t++) {
      if (Number.isNaN(peak) || Math.abs(values[t]) > Math.abs(peak)) peak = values[t];
    }
    if (Number.isNaN(peak)) continue;
    pen.fillStyle = scale.of(peak);
    pen.fillRect(column, COLOURS_TOP, 1, COLOURS_HEIGHT / 2);
    pen.fillStyle = scale.of(mean(values, from, to));
    pen.fillRect(column, COLOURS_TOP + COLOURS_HEIGHT / 2, 1, COLOURS_HEIGHT / 2);
  }
}
