// Cells -> lines of a given width. Pure arithmetic on measured widths: no DOM, so that 262,144 cells
// take milliseconds and only the lines in sight become elements.
//
// A cell's text is cut into segments (a line end is one of its own); a line is a run of segments.
// Blank lines do not cost a line: their marks stand at the end of the line before, and the next line
// keeps a distance.

const WORDS = /\s*\S+|\s+/g;
const LONGEST = 40;
// Scripts written without spaces may break between any two characters.
const UNSPACED =
  /[\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u2E80-\u303F\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF\uFF00-\uFFEF]|[\uD840-\uD87F]/;

// Segments of every kind: {text, width, breakBefore, breakAfter, newline}. `measure(text)` in pixels.
export function measureKinds(kinds, measure, marks) {
  return kinds.map((kind) =>
    segmentsOf(kind, marks).map((segment) => ({
      ...segment,
      width: segment.newline && !marks ? 8 : measure(segment.text) + (kind.special ? 10 : 0),
    })),
  );
}

export function segmentsOf(kind, marks) {
  if (kind.special) {
    const text = marks ? kind.text.replaceAll("\n", "⏎") : "◇";
    return [{ text, breakBefore: true, breakAfter: true, newline: false }];
  }
  const segments = [];
  kind.text.split("\n").forEach((part, i) => {
    if (i > 0)
      segments.push({
        text: marks ? "⏎" : "",
        breakBefore: false,
        breakAfter: true,
        newline: true,
      });
    for (const word of wordsOf(part)) segments.push(wordSegment(word, marks));
  });
  return segments.length ? segments : [wordSegment("", marks)];
}

function wordsOf(part) {
  if (part.length <= LONGEST) return part ? [part] : [];
  return part.match(WORDS).flatMap((word) => {
    const letters = Array.from(word);
    const pieces = [];
    for (let i = 0; i < letters.length; i += LONGEST)
      pieces.push(letters.slice(i, i + LONGEST).join(""));
    return pieces;
  });
}

function wordSegment(word, marks) {
  return {
    text: marks ? word.replace(/ /g, "·").replace(/\t/g, "⇥") : word.replace(/\t/g, "    "),
    breakBefore: /^\s/.test(word) || UNSPACED.test(word.slice(0, 2)),
    breakAfter: /[\s\-–—/]$/.test(word) || UNSPACED.test(word.slice(-2)),
    newline: false,
  };
}

// Lines of one rollout: parallel arrays, `top[i]` in pixels; `height` of the whole.
// `folds`: [[first, last, name], …] cell ranges of the row that stand as one line each.
export function layoutRow(frame, row, segments, width, { lineHeight, gap, folds = [] }) {
  const lines = { cell: [], segment: [], soft: [], top: [], fold: [], height: 0 };
  const pen = { x: 0, blank: 0, started: false, closed: false, breakAt: null };
  const open = (cell, segment, soft, fold = -1) => {
    if (lines.top.length) lines.height += lineHeight;
    if (pen.blank > 1) lines.height += gap;
    lines.cell.push(cell);
    lines.segment.push(segment);
    lines.soft.push(soft);
    lines.fold.push(fold);
    lines.top.push(lines.height);
    Object.assign(pen, { x: 0, blank: 0, started: true, closed: false, breakAt: null });
  };
  const ends = row.cell0 + row.cells;
  let fold = 0;
  for (let cell = row.cell0; cell < ends; cell++) {
    if (fold < folds.length && cell === row.cell0 + folds[fold][0]) {
      open(cell, 0, 0, fold);
      pen.closed = true; // only line ends may still stand there
      cell = row.cell0 + folds[fold][1] - 1;
      fold += 1;
      continue;
    }
    placeCell(segments[frame.cells[cell]], cell, width, pen, lines, open, segments, frame);
  }
  if (lines.top.length) lines.height += lineHeight;
  return lines;
}

function placeCell(own, cell, width, pen, lines, open, segments, frame) {
  for (let s = 0; s < own.length; s++) {
    const segment = own[s];
    if (!pen.started || ((pen.closed || pen.blank > 0) && !segment.newline)) open(cell, s, 0);
    if (segment.newline) {
      pen.blank += 1;
      pen.x += segment.width;
      continue;
    }
    if (segment.breakBefore && pen.x > 0) pen.breakAt = [cell, s];
    if (pen.x + segment.width > width && pen.x > 0) {
      const [atCell, atSegment] = pen.breakAt ?? [cell, s];
      open(atCell, atSegment, 1);
      // What stood between the last chance to break and here moves down with it.
      pen.x = widthBetween(frame, segments, atCell, atSegment, cell, s);
    }
    pen.x += segment.width;
    if (segment.breakAfter) pen.breakAt = s + 1 < own.length ? [cell, s + 1] : [cell + 1, 0];
  }
}

function widthBetween(frame, segments, cell, segment, untilCell, untilSegment) {
  let width = 0;
  while (cell < untilCell || (cell === untilCell && segment < untilSegment)) {
    const own = segments[frame.cells[cell]];
    if (segment < own.length) width += own[segment++].width;
    else [cell, segment] = [cell + 1, 0];
  }
  return width;
}

// The line that shows a cell (its first segment, or the fold that hides it).
export function lineOfCell(lines, cell) {
  let low = 0;
  let high = lines.cell.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const before =
      lines.cell[middle] < cell || (lines.cell[middle] === cell && lines.segment[middle] === 0);
    if (before) low = middle;
    else high = middle - 1;
  }
  return low;
}

// The line at a height in pixels.
export function lineAt(lines, y) {
  let low = 0;
  let high = lines.top.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (lines.top[middle] <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}
