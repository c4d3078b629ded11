// Ways of rollouts over the map: a line through the points in the order of the text, a ring where it
// begins and a head where it ends.

import { CATEGORIES } from "./colours.js";
import { make } from "../token_heatmap/dom.js";
import { toScreen } from "./space.js";

const HEAD = 9; // pixels

export function pathColour(number) {
  return CATEGORIES[number % CATEGORIES.length];
}

// What is drawn: [{places [[x, y], …] of the map, colour, number: what the ring says, or null}].
export function waysOf(frame, paths, lit, ink) {
  const place = ({ x, y }) => (i) => [x[i], y[i]];
  const ways = paths.map(({ rollout, points }, number) => {
    return { places: points.map(place(frame)), colour: pathColour(number), number: rollout.sample };
  });
  // The lit point itself, from map to map.
  if (lit !== null && frame.slices.length)
    ways.push({ places: frame.slices.map((slice) => place(slice)(lit)), colour: ink, number: null });
  return ways;
}

export function paintPaths(pen, { ways, camera, width, height, theme }) {
  const drawn = ways.map(({ places, ...way }, lane) => {
    return { ...way, lane, corners: places.map(([x, y]) => toScreen(camera, x, y, width, height)) };
  });
  // All rims before all lines: else the last of ways that run side by side would hide the others.
  for (const [rim, line, alpha] of [[true, 4, 0.6], [false, 1.6, 0.85]])
    for (const { corners, lane, colour } of drawn) {
      pen.globalAlpha = alpha;
      pen.strokeStyle = rim ? theme.page : colour;
      pen.lineWidth = line;
      pen.beginPath();
      corners.forEach((corner, at) => {
        if (at) pen.quadraticCurveTo(...bend(corners[at - 1], corner, lane), ...corner);
        else pen.moveTo(...corner);
      });
      pen.stroke();
    }
  pen.globalAlpha = 1;
  for (const { corners, lane, colour, number } of drawn) {
    paintHead(pen, corners, lane, colour);
    if (number !== null && corners.length) paintStart(pen, corners[0], colour, String(number), theme);
  }
}

// Where a step is drawn towards: to its right, so that there and back are two lines, and each way in
// a lane of its own, so that ways through the same clouds stay apart.
export function bend([ax, ay], [bx, by], lane) {
  const length = Math.hypot(bx - ax, by - ay);
  const aside = length < 1 ? 0 : 0.05 + (4 * lane) / length;
  return [(ax + bx) / 2 - (by - ay) * aside, (ay + by) / 2 + (bx - ax) * aside];
}

function paintHead(pen, corners, lane, colour) {
  const [x, y] = corners.at(-1) ?? [0, 0];
  // From the last corner that is not on the same spot: equal states are drawn upon each other.
  const from = corners.findLast(([a, b]) => Math.hypot(a - x, b - y) > 0.5);
  if (!from) return;
  const [cx, cy] = bend(from, [x, y], lane);
  const turn = Math.atan2(y - cy, x - cx);
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(x, y);
  for (const side of [-0.45, 0.45])
    pen.lineTo(x - HEAD * Math.cos(turn + side), y - HEAD * Math.sin(turn + side));
  pen.closePath();
  pen.fill();
}

function paintStart(pen, [x, y], colour, text, theme) {
  pen.font = `600 11px ${theme.font}`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.beginPath();
  pen.arc(x, y, 5 + 3 * text.length, 0, 2 * Math.PI);
  pen.fillStyle = theme.page;
  pen.fill();
  pen.lineWidth = 2;
  pen.strokeStyle = colour;
  pen.stroke();
  pen.fillStyle = theme.ink;
  pen.fillText(text, x, y + 0.5);
}

// Which line is whose; an empty span while none is drawn.
export function pathLegend(frame) {
  const items = frame.paths.map((row, number) => {
    const line = make("i", { class: "line" });
    line.style.background = pathColour(number);
    const { sample, group } = frame.rollouts[row];
    const text = group && !frame.rollouts[row].here ? `${group}, ${sample}` : String(sample);
    return make("span", { class: "category", children: [line, make("span", { text })] });
  });
  const head = items.length ? [make("span", { class: "dim", text: "path of rollout" })] : [];
  return make("span", { class: "legend ways", children: [...head, ...items] });
}
