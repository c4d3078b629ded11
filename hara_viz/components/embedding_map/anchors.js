// Anchors of the structure cost, marked on the points that stand for the tokens nearest to them: a
// square with the anchor's number. Anchors that share a point share a square.

import { make } from "../token_heatmap/dom.js";
import { toScreen } from "./space.js";

const SIDE_OF_MARK = 13; // pixels of a square

// point -> the numbers of its anchors, ascending
export function anchorsByPoint(anchors) {
  const found = new Map();
  for (const { point, number } of anchors) found.set(point, [...(found.get(point) ?? []), number].sort((a, b) => a - b));
  return found;
}

// "3", or "3–5" and "3, 7" for those that share a point.
export function numbersText(numbers) {
  const isRun = numbers.length > 2 && numbers.at(-1) - numbers[0] === numbers.length - 1;
  return isRun ? `${numbers[0]}–${numbers.at(-1)}` : numbers.join(", ");
}

export function paintAnchors(pen, { frame, camera, width, height, theme }) {
  pen.font = `600 10px ${theme.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const [point, numbers] of frame.anchored) {
    const text = numbersText(numbers);
    const [x, y] = toScreen(camera, frame.x[point], frame.y[point], width, height);
    const wide = Math.max(SIDE_OF_MARK, pen.measureText(text).width + 6);
    pen.fillStyle = theme.ink;
    pen.fillRect(x - wide / 2, y - SIDE_OF_MARK / 2, wide, SIDE_OF_MARK);
    pen.lineWidth = 1;
    pen.strokeStyle = theme.page;
    pen.strokeRect(x - wide / 2, y - SIDE_OF_MARK / 2, wide, SIDE_OF_MARK);
    pen.fillStyle = theme.page;
    pen.fillText(text, x, y + 0.5);
  }
}

// What a point says of its anchors; nothing for one that has none.
export function anchorLine(frame, point) {
  const numbers = frame.anchored.get(point);
  if (!numbers) return [];
  const text = `token nearest to anchor ${numbersText(numbers)}`;
  return [make("div", { class: "dim", text })];
}

export function anchorLegend({ anchors }) {
  if (!anchors.length) return make("span", {});
  const square = make("i", { class: "anchor", text: "0" });
  const text = make("span", { text: "anchor’s nearest token" });
  const title = "Anchors tie the structure of a rollout to the barycenter’s. Marked is the token nearest to each, numbered along the rollout.";
  return make("span", { class: "legend atoms", title, children: [make("span", { class: "category", children: [square, text] })] });
}
