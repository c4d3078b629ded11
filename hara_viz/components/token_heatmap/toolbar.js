// The row of choices above the text, and the legend: what is filled, what is underlined, over which
// domain. It reads and writes nothing itself; every choice goes to `actions`.

import { make, options } from "./dom.js";
import { formatted } from "./values.js";

const LEVELS = [
  ["token", "token"],
  ["step", "step"],
  ["rollout", "rollout"],
];
const SORTS = [
  ["sample", "number"],
  ["mean", "mean of the fill"],
  ["peak", "peak of the fill"],
  ["reward", "reward"],
  ["tokens", "length"],
];

export class Toolbar {
  constructor(actions) {
    this.actions = actions;
    const choose = (name) => ({
      change: (event) => actions.set({ [name]: event.target.value || null }),
    });
    this.fill = make("select", {
      "aria-label": "Signal that fills the text",
      on: choose("signal"),
    });
    this.line = make("select", {
      "aria-label": "Signal that underlines the text",
      on: choose("underline"),
    });
    this.level = make("select", { "aria-label": "Granularity", on: choose("granularity") });
    this.sort = make("select", {
      "aria-label": "Order of rollouts",
      on: { change: (e) => actions.sort(e.target.value) },
    });
    this.marks = toggle("¶", "Show spaces, line ends and special tokens", () => actions.marks());
    this.think = toggle("fold thinking", "Fold <think> regions to one line each", () =>
      actions.foldAll(),
    );
    this.all = make("button", {
      type: "button",
      class: "quiet",
      on: { click: () => actions.openAll() },
    });
    this.search = make("input", {
      type: "search",
      placeholder: "search  /",
      "aria-label": "Search all rollouts",
      spellcheck: "false",
      on: { input: (e) => actions.search(e.target.value), keydown: (e) => this.onSearchKey(e) },
    });
    this.count = make("span", { class: "count", role: "status" });
    const help = make("button", {
      type: "button",
      class: "quiet",
      text: "?",
      title: "Keyboard",
      "aria-label": "Keyboard map",
      on: { click: () => actions.help() },
    });
    this.legend = make("div", { class: "legend" });
    this.note = make("div", { class: "note", role: "status", hidden: true });
    this.element = make("div", {
      class: "bar",
      children: [
        make("div", {
          class: "choices",
          children: [
            labelled("fill", this.fill),
            labelled("underline", this.line),
            labelled("per", this.level, "minor"),
            labelled("sort by", this.sort, "minor"),
            make("span", { class: "spring" }),
            this.count,
            this.search,
          ],
        }),
        make("div", {
          class: "choices",
          children: [
            this.legend,
            make("span", { class: "spring" }),
            this.think,
            this.marks,
            this.all,
            help,
          ],
        }),
        this.note,
      ],
    });
  }

  focusSearch() {
    this.search.focus();
    this.search.select();
  }

  showCount(text) {
    this.count.textContent = text;
  }

  // A sentence under the choices, `commands` in it to be copied; empty: nothing to say.
  showNote(sentence) {
    this.note.hidden = !sentence;
    const parts = sentence.split("`");
    const close = make("button", {
      type: "button",
      class: "quiet",
      text: "×",
      "aria-label": "Close",
      on: { click: () => this.showNote("") },
    });
    const words = parts.map((text, i) => make(i % 2 ? "code" : "span", { text }));
    this.note.replaceChildren(make("p", { children: words }), close);
  }

  onSearchKey(event) {
    if (event.key === "Enter") this.actions.nextHit(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      this.search.value = "";
      this.actions.search("");
      this.search.blur();
    }
    event.stopPropagation();
  }

  show(frame, view, local, { scale, lineScale }) {
    const names = signalChoices(frame);
    options(this.fill, names, view.awaited.signal ?? view.signal);
    options(this.line, [["", "nothing"], ...names], view.awaited.underline ?? view.underline ?? "");
    options(this.level, LEVELS, view.granularity);
    options(this.sort, SORTS, local.sort);
    this.marks.setAttribute("aria-pressed", local.marks);
    this.think.setAttribute("aria-pressed", local.foldAll);
    this.think.hidden = !frame.rows.some((row) => row.think.length);
    this.all.textContent = local.allOpen ? "collapse all" : "expand all";
    const fill = frame.signals.find((signal) => signal.name === view.signal);
    const line = frame.signals.find((signal) => signal.name === view.underline);
    this.legend.replaceChildren(
      this.fillLegend(fill, scale, view),
      ...(line ? [lineLegend(line, lineScale)] : []),
      ...Object.values(view.awaited).map((name) => awaitedLegend(frame, name)),
    );
  }

  fillLegend(signal, scale, view) {
    const bound = (i) =>
      make("input", {
        type: "text",
        inputmode: "decimal",
        class: "bound",
        value: formatted(scale.domain[i]),
        "aria-label": i ? "Upper end of the colours" : "Lower end of the colours",
        title: "Type a number to set this end of the colours",
        on: {
          change: (event) => this.setBound(i, event.target.value, scale.domain),
          keydown: (event) => event.stopPropagation(),
        },
      });
    return make("span", {
      class: "key",
      title: signal.meaning,
      children: [
        bound(0),
        make("span", { class: "ramp", style: `background-image:${gradient(scale)}` }),
        bound(1),
        view.bounds ? this.fitButton() : this.holdButton(scale),
      ],
    });
  }

  fitButton() {
    return make("button", {
      type: "button",
      class: "quiet",
      text: "auto",
      title: "Back to the 2–98 % quantiles of the group",
      on: { click: () => this.actions.set({ bounds: null }) },
    });
  }

  // Quantiles follow each change of the credit, so that before and after would look alike.
  holdButton({ domain, signed }) {
    const reach = signed ? ", the same reach on both sides of zero" : "";
    return make("button", {
      type: "button",
      class: "quiet",
      text: "hold",
      title:
        `The colours span the 2–98 % quantiles of the group${reach}. ` +
        "Hold them to compare before and after a change of the settings.",
      on: { click: () => this.actions.set({ bounds: domain.map(linkable) }) },
    });
  }

  setBound(i, text, domain) {
    const value = Number(text.trim().replace("−", "-").replace(",", "."));
    const bounds = [...domain];
    bounds[i] = value;
    const usable = text.trim() !== "" && bounds.every(Number.isFinite) && bounds[0] < bounds[1];
    this.actions.set(usable ? { bounds } : {});
  }
}

// A bound of the quantiles as it stands in a link.
const linkable = (value) => Number(value.toPrecision(4));

// What is there, what comes when it is asked for, what would need something else first.
function signalChoices(frame) {
  const pairs = (signals) => signals.map(({ name, label }) => [name, label]);
  const groups = [
    { label: "On demand", choices: pairs(frame.offers.filter((offer) => !isLocked(offer))) },
    { label: "Locked (choose one to see why)", choices: pairs(frame.offers.filter(isLocked)) },
  ];
  return [...pairs(frame.signals), ...groups.filter(({ choices }) => choices.length)];
}

function isLocked({ locked }) {
  return Boolean(locked);
}

function awaitedLegend(frame, name) {
  const { label, meaning } = frame.offers.find((offer) => offer.name === name);
  return make("span", { class: "key dim", title: meaning, text: `waiting for ${label} …` });
}

function lineLegend(signal, scale) {
  return make("span", {
    class: "key",
    title: `${signal.label}: ${signal.meaning}`,
    children: [
      make("span", { text: formatted(scale.domain[0]) }),
      make("span", { class: "ramp thin", style: `background-image:${gradient(scale)}` }),
      make("span", { text: formatted(scale.domain[1]) }),
      make("span", { class: "dim", text: "underline" }),
    ],
  });
}

function gradient(scale) {
  const stops = Array.from({ length: 17 }, (_, i) => scale.css[Math.round((i / 16) * 255)]);
  return `linear-gradient(to right, ${stops.join(", ")})`;
}

function labelled(word, control, kind = null) {
  return make("label", {
    class: kind,
    children: [make("span", { class: "dim", text: word }), control],
  });
}

function toggle(text, title, click) {
  return make("button", {
    type: "button",
    class: "quiet",
    text,
    title,
    "aria-label": text === "¶" ? title : null, // a sign has no name of its own
    "aria-pressed": "false",
    on: { click },
  });
}
