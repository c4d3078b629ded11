// What is known of the tokens of a cell: text, ids, bytes, place, every signal. Text only.

import { make } from "./dom.js";
import { formatted, levelValues, signalOf, stepOf, valueAt } from "./values.js";

const MOST_TOKENS = 4;

export class Tooltip {
  constructor() {
    this.element = make("div", { class: "tip", role: "tooltip", hidden: true });
  }

  hide() {
    this.element.hidden = true;
  }

  // `at`: the cell's box; `frameBox`: the component's, both in viewport pixels.
  show({ frame, view, row, cell, at, frameBox }) {
    this.element.replaceChildren(head(frame, row, cell), figures(frame, view, row, cell));
    this.element.hidden = false;
    const { offsetWidth, offsetHeight } = this.element;
    const left = Math.max(4, Math.min(at.left - frameBox.left, frameBox.width - offsetWidth - 4));
    const below = at.bottom + 6 + offsetHeight < window.innerHeight;
    const top = below ? at.bottom - frameBox.top + 6 : at.top - frameBox.top - offsetHeight - 6;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}

function head(frame, row, cell) {
  const kind = frame.kinds[frame.cells[cell]];
  const first = frame.firstToken[cell] - row.token0;
  const step = stepOf(row, first);
  const several = kind.ids.length > 1;
  const place = several ? `tokens ${first}–${first + kind.ids.length - 1}` : `token ${first}`;
  const where = [
    `#${row.sample}`,
    `${place} of ${row.tokens}`,
    step === null ? null : `step ${step}`,
  ];
  const bytes = bytesOf(kind);
  return make("div", {
    class: "tip-head",
    children: [
      make("div", { class: "tip-text", text: visible(kind.text) }),
      make("div", { class: "dim", text: where.filter(Boolean).join(" · ") }),
      make("div", {
        class: "dim",
        text: [
          kind.special ? "special" : null,
          `${several ? "ids" : "id"} ${shortened(kind.ids)}`,
          bytes ? `bytes ${bytes}` : null,
          several ? "one character, shared" : null,
        ]
          .filter(Boolean)
          .join(" · "),
      }),
    ],
  });
}

function figures(frame, view, row, cell) {
  const first = frame.firstToken[cell];
  const last = Math.min(frame.firstToken[cell + 1], first + MOST_TOKENS);
  const lines = frame.signals.map((signal) => {
    const use =
      signal.name === view.signal ? "is-fill" : signal.name === view.underline ? "is-line" : null;
    const numbers = [];
    for (let t = first; t < last; t++)
      numbers.push(
        make("td", { text: formatted(valueAt(frame, signal.name, row, t), signal.signed) }),
      );
    if (use === "is-fill" && view.granularity !== "token") {
      const mean = levelValues(frame, signal.name, view.granularity)[first];
      numbers.push(
        make("td", { class: "dim", text: `${view.granularity} ${formatted(mean, signal.signed)}` }),
      );
    }
    return make("tr", {
      class: use,
      children: [make("th", { text: signal.label, scope: "row" }), ...numbers],
    });
  });
  return make("table", { children: lines });
}

// The pinned token for those who listen: its text and the value that is coloured.
export function spokenOf(frame, view, row, cell) {
  const { label, signed } = signalOf(frame, view.signal);
  const value = valueAt(frame, view.signal, row, row.token0 + view.token);
  const text = visible(frame.kinds[frame.cells[cell]].text);
  return `${text}, token ${view.token}, ${label} ${formatted(value, signed)}`;
}

// Spaces and line ends made visible.
export function visible(text) {
  const shown = text.replaceAll(" ", "·").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
  return shown.length > 120 ? `${shown.slice(0, 117)}…` : shown || "(no text of its own)";
}

// Hex bytes, where they say more than the letters do.
export function bytesOf({ text, raw }) {
  if (raw === null && /^[\x20-\x7e]*$/.test(text)) return null;
  const bytes =
    raw === null
      ? [...new TextEncoder().encode(text)].map((b) => b.toString(16).padStart(2, "0"))
      : raw.match(/../g);
  return bytes.slice(0, 16).join(" ") + (bytes.length > 16 ? " …" : "");
}

function shortened(ids) {
  return ids.slice(0, 6).join(", ") + (ids.length > 6 ? `, … (${ids.length})` : "");
}
