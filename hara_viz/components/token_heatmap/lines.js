// A line of cells as elements. `card` is the rollout they belong to (rollout.js).

import { make } from "./dom.js";
import { cellValue, formatted, mean } from "./values.js";

// `start`: the height, in the whole layout, at which the shown lines begin.
export function makeLine(card, line, start) {
  const { row, app, foldList } = card;
  const { top, cell, segment, soft, fold } = card.layoutLines;
  const style = `top:${top[line] - start}px`;
  const element = make("div", { class: "line", dir: "auto", style });
  const region = fold[line] >= 0 ? foldList[fold[line]] : null;
  if (region) element.append(makeFold(card, region));
  const ended = line + 1 >= top.length;
  const endCell = ended ? row.cell0 + row.cells : cell[line + 1];
  const endSegment = ended ? 0 : segment[line + 1];
  let at = region ? row.cell0 + region[1] : cell[line];
  let s = segment[line];
  while (at < endCell || (at === endCell && s < endSegment)) {
    const own = app.segments[app.frame.cells[at]];
    if (s >= own.length) [at, s] = [at + 1, 0];
    else {
      const opens = soft[line] === 1 && at === cell[line] && s === segment[line];
      element.append(makeCell(app, row, at, own[s], opens));
      s += 1;
    }
  }
  return element;
}

function makeCell(app, row, cell, segment, opensLine) {
  const span = document.createElement("span");
  // A line that was broken at a space does not show it; with marks on, everything is shown.
  const hidesSpace = opensLine && !app.local.marks;
  span.textContent = hidesSpace ? segment.text.replace(/^ +/, "") : segment.text;
  span.dataset.cell = cell;
  span.className = "c";
  const within = cell - row.cell0;
  const isAnswer = row.answer && within >= row.answer[0] && within < row.answer[1];
  span.classList.toggle("nl", segment.newline);
  span.classList.toggle("special", app.frame.kinds[app.frame.cells[cell]].special);
  span.classList.toggle("answer", Boolean(isAnswer));
  markCell(app, row, span);
  paintCell(app, span);
  return span;
}

// Pinned, found by the search, in the lasso.
export function markCell(app, row, span) {
  const cell = Number(span.dataset.cell);
  span.classList.toggle("pinned", app.isPinned(row, cell));
  span.classList.toggle("hit", app.search.cells.has(cell));
  span.classList.toggle("lassoed", app.lasso.cells.has(cell));
}

export function paintCell(app, span) {
  const { frame, colours } = app;
  const cell = Number(span.dataset.cell);
  const fill = cellValue(frame, colours.values, cell);
  span.style.backgroundColor = colours.scale.of(fill) ?? "";
  if (Number.isNaN(fill) !== span.classList.contains("unknown")) span.classList.toggle("unknown");
  const line = colours.lineScale?.of(cellValue(frame, colours.lineValues, cell));
  const shadow = line ? `inset 0 -3px 0 ${line}` : "";
  if (shadow || span.style.boxShadow) span.style.boxShadow = shadow;
}

function makeFold(card, [first, last, region]) {
  const { firstToken } = card.app.frame;
  const { values, scale } = card.app.colours;
  const from = firstToken[card.row.cell0 + first];
  const to = firstToken[card.row.cell0 + last];
  const level = formatted(mean(values, from, to), scale.signed);
  const text = `▸ thinking · ${to - from} tokens · mean ${level}`;
  return make("button", {
    type: "button",
    class: "fold",
    text,
    on: { click: () => card.unfold(region) },
  });
}
