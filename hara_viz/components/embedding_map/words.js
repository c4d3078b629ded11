// The words around a map: what a point stands for, what the colours mean. Text only.

import { excerpt, visible } from "../shared/cells.js";
import { anchorLine } from "./anchors.js";
import { make } from "../token_heatmap/dom.js";
import { legendCounts, opacityOf, SIDE } from "./density.js";

const OUTCOMES = new Map([
  [true, "right"],
  [false, "wrong"],
]);

export function textOf(frame, point, around) {
  const rollout = frame.rollouts[frame.row[point]];
  const first = frame.token[point];
  const { before, inside, after } = excerpt(rollout.cells, first, first + frame.span[point], around);
  return make("div", {
    class: "excerpt",
    children: [
      make("span", { class: "dim", text: before }),
      make("b", { text: inside }),
      make("span", { class: "dim", text: after }),
    ],
  });
}

export function placeOf(frame, point) {
  const { sample, success, tokens, group } = frame.rollouts[frame.row[point]];
  const first = frame.token[point];
  const span = frame.span[point];
  const where = span > 1 ? `tokens ${first}–${first + span - 1}` : `token ${first}`;
  const start = group ? `${group}, ` : "";
  return `${start}rollout ${sample} (${OUTCOMES.get(success) ?? "unscored"}), ${where} of ${tokens}`;
}

export function tipOf(frame, point) {
  return [
    textOf(frame, point, 8),
    make("div", { class: "dim", text: placeOf(frame, point) }),
    make("div", { text: valueLine(frame, point) }),
    ...anchorLine(frame, point),
  ];
}

export function atomTip({ success, name, text, group }) {
  const start = group ? `${group}: ` : "";
  return [
    make("div", { text: `${start}atom ${name} of the ${success ? "right" : "wrong"} rollouts` }),
    make("div", { class: "excerpt", text: visible(text) }),
  ];
}

function valueLine({ colour, value }, point) {
  const shown = Number.isNaN(value[point])
    ? "unknown"
    : colour.kind === "categories"
      ? (colour.categories[value[point]] ?? "unknown")
      : Number(value[point].toPrecision(4)).toString().replace("-", "−");
  return `${colour.label}: ${shown}`;
}

// What the colours mean: a ramp with its ends, or one dot for each category.
export function legendOf({ colour }, colours) {
  if (colour.kind === "categories") {
    const items = colour.categories.slice(0, 24).map((name, i) => {
      const dot = make("i", { class: "dot" });
      dot.style.background = colours.css[i];
      return make("span", { class: "category", children: [dot, make("span", { text: name })] });
    });
    return make("span", { class: "legend", children: [make("span", { class: "dim", text: colour.label }), ...items] });
  }
  const ramp = make("i", { class: "ramp" });
  const stops = [0, 64, 128, 192, 255].map((i) => colours.css[i]);
  ramp.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  const [low, high] = colour.domain.map((end) => Number(end.toPrecision(3)).toString().replace("-", "−"));
  return make("span", {
    class: "legend",
    children: [
      make("span", { class: "dim", text: colour.label }),
      make("span", { text: low }),
      ramp,
      make("span", { text: high }),
    ],
  });
}

// What the diamonds are; an empty span while there are none.
export function atomLegend({ atoms }, theme) {
  const title = "An atom is a place that the rollouts of one outcome usually pass through: the mean state of the tokens whose mass flows to it.";
  const sides = [true, false].filter((side) => atoms.some(({ success }) => success === side));
  const items = sides.map((side) => {
    const diamond = make("i", { class: "diamond" });
    diamond.style.background = side ? theme.right : theme.wrong;
    const text = `barycenter atom, ${OUTCOMES.get(side)}`;
    return make("span", { class: "category", children: [diamond, make("span", { text })] });
  });
  return make("span", { class: "legend atoms", title, children: items });
}

// What the squares beneath the points say; nothing while they are not shown.
export function densityLegend(density, theme) {
  if (!density) return [];
  const title = `Points in a square of ${SIDE} × ${SIDE} pixels, counted as they lie on the screen now; a logarithmic scale.`;
  const items = legendCounts(density.most).map((count) => {
    const patch = make("i", { class: "patch" });
    patch.style.background = theme.ink;
    patch.style.opacity = opacityOf(count, density.most);
    return make("span", { class: "category", children: [patch, make("span", { text: String(count) })] });
  });
  return [make("span", { class: "dim", title, text: `points in ${SIDE} × ${SIDE} pixels` }), ...items];
}
