import assert from "node:assert/strict";
import { test } from "node:test";

import { parseFrame } from "./frame.js";
import { layoutRow, lineAt, lineOfCell, measureKinds, segmentsOf } from "./layout.js";
import { bytesOf } from "./sample_frame.js";

const LOOK = { lineHeight: 20, gap: 8 };

// One rollout whose cells are the given texts; a character is 10 wide.
function laidOut(texts, width, { marks = false, folds = [], special = [] } = {}) {
  const kinds = texts.map((text, i) => [text, [i], special.includes(i) ? 1 : 0]);
  const cells = texts.map((_, i) => i);
  const rows = [
    { sample: 0, cells: texts.length, tokens: texts.length, think: [], steps: [], answer: null },
  ];
  const frame = parseFrame(bytesOf({ kinds, cells, rows }));
  const segments = measureKinds(frame.kinds, (text) => Array.from(text).length * 10, marks);
  const lines = layoutRow(frame, frame.rows[0], segments, width, { ...LOOK, folds });
  return { frame, segments, lines, shown: shownLines(frame, segments, lines, folds) };
}

function shownLines(frame, segments, lines, folds) {
  return lines.cell.map((cell, i) => {
    const fold = lines.fold[i] >= 0 ? folds[lines.fold[i]] : null;
    const endCell = lines.cell[i + 1] ?? frame.nCells;
    const endSegment = lines.segment[i + 1] ?? 0;
    let text = fold ? "(fold)" : "";
    for (
      let c = fold ? fold[1] : cell, s = lines.segment[i];
      c < endCell || (c === endCell && s < endSegment);
    ) {
      const own = segments[frame.cells[c]];
      if (s >= own.length) [c, s] = [c + 1, 0];
      else {
        text += own[s].newline ? "⏎" : own[s].text;
        s += 1;
      }
    }
    return text;
  });
}

test("lines break before a word's space, never inside a word that fits", () => {
  const { shown } = laidOut(["The", " nov", "elty", " of", " to", "kens"], 90);
  assert.deepEqual(
    shown,
    ["The", " novelty", " of", " tokens"].reduce((lines, word) => {
      const last = lines.at(-1);
      if (last !== undefined && (last + word).length <= 9) lines[lines.length - 1] = last + word;
      else lines.push(word);
      return lines;
    }, []),
  );
});

test("a word that is longer than a line breaks where a token ends", () => {
  assert.deepEqual(laidOut(["aaaa", "bbbb", "cccc"], 90).shown, ["aaaabbbb", "cccc"]);
});

test("a token that is wider than a line has one to itself", () => {
  assert.deepEqual(laidOut(["a", "bbbbbbbbbbbb", "c"], 50).shown, ["a", "bbbbbbbbbbbb", "c"]);
});

test("a long cell wraps within itself", () => {
  const { shown } = laidOut([Array(30).fill("word").join(" ")], 120);
  assert.ok(shown.length > 10);
  assert.equal(shown.join(""), Array(30).fill("word").join(" "));
  const url = laidOut(["x".repeat(95)], 500);
  assert.equal(url.shown.join(""), "x".repeat(95));
});

test("Chinese breaks anywhere", () => {
  assert.deepEqual(laidOut(["设", "速度", "为", "六十"], 30).shown, ["设速度", "为六十"]);
});

test("line ends end lines; blank lines cost a distance, not a line", () => {
  const { shown, lines } = laidOut(["a", "\n\n", "b", ".\n", "c", "\n", "\n", "d"], 500);
  assert.deepEqual(shown, ["a⏎⏎", "b.⏎", "c⏎⏎", "d"]);
  assert.deepEqual(lines.top, [0, 28, 48, 76]);
  assert.equal(lines.height, 96);
});

test("a line end inside a cell splits it over two lines", () => {
  const { shown, lines } = laidOut(["a\nb", "c"], 500);
  assert.deepEqual(shown, ["a⏎", "bc"]);
  assert.deepEqual([lines.cell[1], lines.segment[1]], [0, 2]);
});

test("a text that begins or ends with line ends", () => {
  assert.deepEqual(laidOut(["\n", "a", "\n"], 500).shown, ["⏎", "a⏎"]);
  assert.deepEqual(laidOut([], 500).shown, []);
});

test("a fold stands as one line, with the line ends after it", () => {
  const texts = ["<think>", "\n", "x", "</think>", "\n\n", "y"];
  const { shown, lines, frame } = laidOut(texts, 500, { folds: [[0, 4, 0]] });
  assert.deepEqual(shown, ["(fold)⏎⏎", "y"]);
  for (let c = 0; c < 5; c++) assert.equal(lineOfCell(lines, c), 0);
  assert.equal(lineOfCell(lines, frame.nCells - 1), 1);
  assert.deepEqual(laidOut(texts, 500, { folds: [[0, 6, 0]] }).shown, ["(fold)"]);
  assert.deepEqual(laidOut(["a", "b", "c"], 500, { folds: [[1, 2, 0]] }).shown, [
    "a",
    "(fold)",
    "c",
  ]);
});

test("every cell is found on the line that shows it", () => {
  const texts = Array.from({ length: 400 }, (_, i) =>
    i % 13 === 0 ? "\n" : i % 29 === 0 ? "a\nb" : ` w${i}`,
  );
  const { lines } = laidOut(texts, 230);
  for (let cell = 0; cell < texts.length; cell++) {
    const line = lineOfCell(lines, cell);
    assert.ok(lines.cell[line] <= cell, `${cell}`);
    const next = lines.cell[line + 1] ?? Infinity;
    assert.ok(cell < next || (cell === next && lines.segment[line + 1] > 0), `${cell} on ${line}`);
  }
});

test("heights find their lines", () => {
  const { lines } = laidOut(["a", "\n\n", "b", "\n", "c"], 500);
  assert.deepEqual(
    [-5, 0, 19, 28, 47, 48, 500].map((y) => lineAt(lines, y)),
    [0, 0, 0, 1, 1, 2, 2],
  );
});

test("marks show what is invisible; special cells are a sign or their name", () => {
  const texts = (kind, marks) =>
    segmentsOf({ special: false, ...kind }, marks).map((segment) => segment.text);
  assert.deepEqual(texts({ text: " a\tb\n" }, true), ["·a⇥b", "⏎"]);
  assert.deepEqual(texts({ text: " a\tb\n" }, false), [" a    b", ""]);
  assert.deepEqual(texts({ text: "<|e|>", special: true }, false), ["◇"]);
  assert.deepEqual(texts({ text: "<|e|>", special: true }, true), ["<|e|>"]);
  assert.deepEqual(texts({ text: "" }, false), [""]);
});

test("no line is wider than the page unless one token is", () => {
  const texts = Array.from({ length: 300 }, (_, i) => (i % 3 ? "x".repeat(1 + (i % 7)) : ` y${i}`));
  const { shown } = laidOut(texts, 200);
  for (const line of shown) assert.ok(line.length <= 20, line);
});
