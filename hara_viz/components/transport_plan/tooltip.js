// What is pointed at, in words and figures. Text only.

import { excerpt, visible } from "../shared/cells.js";
import { make } from "../token_heatmap/dom.js";
import { costOf, shareOf, topAtoms } from "./frame.js";

export function tipFor(frame, token, atom) {
  const lines = [];
  if (token !== null) {
    const { before, inside, after } = excerpt(frame.cells, token);
    lines.push(
      make("div", {
        class: "excerpt",
        children: [
          make("span", { class: "dim", text: before }),
          make("b", { text: inside }),
          make("span", { class: "dim", text: after }),
        ],
      }),
    );
    lines.push(make("div", { class: "dim", text: `token ${token} of ${frame.tokens}` }));
    if (!frame.own[token]) lines.push(make("div", { text: "not sampled by the policy: no mass" }));
    else if (atom === null) lines.push(make("div", { text: flowOf(frame, token) }));
  }
  if (atom !== null) {
    const { name, location, text } = frame.atoms[atom];
    const share = token === null ? "" : ` takes ${percent(shareOf(frame, token, atom))}`;
    lines.push(make("div", { text: `atom ${name}${share}: ${visible(text)}` }));
    lines.push(make("div", { class: "dim", text: `stands at ${percent(location)} of the way` }));
  }
  if (token !== null && frame.own[token]) lines.push(make("div", { text: costLine(frame, token) }));
  return lines;
}

function flowOf(frame, token) {
  const parts = topAtoms(frame, token).map(
    ({ atom, share }) => `${percent(share)} to atom ${frame.atoms[atom].name}`,
  );
  return `its mass goes ${parts.join(", ")}`;
}

function costLine(frame, token) {
  const show = (value) => value.toPrecision(3);
  return `cost ${show(costOf(frame, token))} = feature ${show(frame.feature[token])} + structure ${show(frame.structure[token])}`;
}

export function percent(share) {
  return `${(100 * share).toFixed(share > 0 && share < 0.095 ? 1 : 0)} %`;
}
