// Two barycenters as text: one instance for a mount point, however often Streamlit calls the entry.

import { FrameError } from "../shared/envelope.js";
import { SharedSelection } from "../shared/selection.js";
import { make } from "../token_heatmap/dom.js";
import { parseBarycenters } from "./frame.js";
import { partings, pathOf, strength } from "./links.js";

const MIDDLE = 64; // pixels between the lists
const QUOTES = 3; // shown of an atom

class BarycenterText {
  constructor(root) {
    this.root = root;
    this.builds = 0;
    this.svg = root.querySelector("svg");
    this.summary = make("div", { class: "summary" });
    this.body = make("div", { class: "lists", tabindex: "0", role: "region", "aria-label": "Atoms of both barycenters" });
    root.replaceChildren(this.summary, this.body);
    this.selection = new SharedSelection("barycenter_text", () => this.mark());
    this.resize = new ResizeObserver(() => this.drawLinks());
    this.resize.observe(this.body);
  }

  dispose() {
    this.resize.disconnect();
    this.selection.dispose();
  }

  show(data) {
    try {
      const frame = data === this.data ? this.frame : parseBarycenters(data);
      this.data = data;
      if (frame.content === this.frame?.content) return;
      this.frame = frame;
      this.build();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      const text = `The barycenters cannot be shown: ${error.message}. Reload the page; if that does not help, report it.`;
      this.frame = null;
      this.body.replaceChildren(make("p", { class: "error", role: "alert", text }));
      this.root.dataset.ready = "error";
    }
  }

  build() {
    const { sides } = this.frame;
    this.builds += 1;
    this.body.replaceChildren(this.listOf(sides[0], 0), this.svg, this.listOf(sides[1], 1));
    this.summary.replaceChildren(...this.summaryOf());
    this.drawLinks();
    this.mark();
    Object.assign(this.root.dataset, { builds: this.builds, ready: "yes" });
  }

  listOf(side, place) {
    const word = side.success ? "right" : "wrong";
    const title = `What it usually does when it is ${word}`;
    const rollouts = `${side.rollouts} rollout${side.rollouts === 1 ? "" : "s"}`;
    const head = [make("b", { text: title }), make("span", { class: "dim", text: ` ${rollouts}` })];
    return make("div", {
      class: "list",
      "data-side": word,
      children: [
        make("div", { class: "head", children: head }),
        closestOf(side),
        side.empty ? make("p", { class: "dim", text: side.empty }) : null,
        ...side.atoms.map((atom, i) => this.atomOf(atom, i, place)),
      ],
    });
  }

  atomOf(atom, i, place) {
    const percent = (share) => `${Math.round(100 * share)} %`;
    const figures = `atom ${atom.name}: at ${percent(atom.location)} of the way (spread ${percent(atom.spread)}), mass ${atom.mass.toFixed(2)} of what is due, passed by ${percent(atom.coverage)} of the rollouts`;
    const lines = atom.quotes.slice(0, QUOTES).map((quote, n) => this.quoteOf(quote, n));
    return make("div", {
      class: "atom",
      "data-atom": atom.name,
      title: figures,
      on: {
        pointerenter: () => this.light(i, place),
        pointerleave: () => this.light(null, place),
      },
      children: [placeOf(atom), make("div", { class: "quotes", children: lines }), coverageOf(atom)],
    });
  }

  quoteOf({ sample, token, before, inside, after }, n) {
    return make("button", {
      type: "button",
      class: n ? "quote further" : "quote",
      "data-sample": sample,
      "data-token": token,
      "aria-label": `token ${token} of rollout ${sample}: ${inside}`,
      on: { click: () => this.pick(sample, token) },
      children: [
        make("span", { class: "who", text: sample }),
        make("span", { class: "before", children: [make("bdi", { text: before })] }),
        make("b", { text: inside }),
        make("span", { class: "after", text: after }),
      ],
    });
  }

  pick(sample, token) {
    this.selection.move(sample, token);
    this.mark();
  }

  mark() {
    const { sample, token } = this.selection.now;
    for (const quote of this.body.querySelectorAll(".quote"))
      quote.classList.toggle(
        "pinned",
        quote.dataset.sample === String(sample) && quote.dataset.token === String(token),
      );
  }

  // ---- links ------------------------------------------------------------------------------------

  drawLinks() {
    if (!this.frame || !this.body.clientHeight) return;
    const { links } = this.frame;
    const [left, right] = ["right", "wrong"].map((side) => [
      ...this.body.querySelectorAll(`[data-side=${side}] .atom`),
    ]);
    const top = this.svg.parentElement.getBoundingClientRect().top - this.body.scrollTop;
    const middle = (atom) => {
      const box = atom.getBoundingClientRect();
      return box.top + box.height / 2 - top;
    };
    this.svg.setAttribute("height", String(Math.max(...[...this.body.children].map((c) => c.offsetHeight ?? 0), 0)));
    this.svg.setAttribute("width", String(MIDDLE));
    this.paths = links.map((link) => {
      const path = document.createElementNS(this.svg.namespaceURI, "path");
      const parted = strength(links, link.gap);
      path.setAttribute("d", pathOf(middle(left[link.first]), middle(right[link.second]), MIDDLE));
      path.style.strokeWidth = `${1 + 3.5 * link.share}px`;
      path.style.setProperty("--parted", `${Math.round(100 * parted)}%`);
      const hint = document.createElementNS(this.svg.namespaceURI, "title");
      hint.textContent = `gap ${link.gap.toFixed(3)}`;
      path.append(hint);
      return path;
    });
    this.svg.replaceChildren(...this.paths);
  }

  // An atom and what it is matched with; `i`: its place in the list, null for none.
  light(i, place) {
    const { links } = this.frame;
    const name = place ? "second" : "first";
    const partner = place ? "first" : "second";
    const others = this.body.querySelectorAll(`[data-side=${place ? "right" : "wrong"}] .atom`);
    for (const atom of others) atom.classList.remove("matched");
    links.forEach((link, n) => {
      const lit = link[name] === i;
      this.paths[n]?.classList.toggle("lit", lit);
      if (lit) others[link[partner]]?.classList.add("matched");
    });
  }

  summaryOf() {
    const { links, sides } = this.frame;
    if (!links.length) return [];
    const shown = partings(links);
    const words = ({ first, second, gap }, i) => [
      make("span", { class: "where", text: ` ${Math.round(100 * sides[0].atoms[first].location)} %: ` }),
      make("b", { text: wordOf(sides[0].atoms[first]) }),
      make("span", { text: " against " }),
      make("b", { text: wordOf(sides[1].atoms[second]) }),
      make("span", { class: "dim", text: ` (gap ${gap.toFixed(2)})${i < shown.length - 1 ? ";" : "."}` }),
    ];
    return [make("span", { text: "They part most at" }), ...shown.flatMap(words)];
  }
}

function wordOf(atom) {
  return atom.quotes[0]?.inside.trim() || "␣";
}

function closestOf({ closest }) {
  if (!closest) return null;
  return make("div", {
    class: "closest",
    children: [
      make("span", { class: "dim", text: `Nearest real rollout, ${closest.sample}: ` }),
      make("span", { text: closest.text }),
    ],
  });
}

// Where the atom stands, with its spread, on a line from start to end.
function placeOf({ location, spread }) {
  const low = Math.max(0, location - spread);
  const high = Math.min(1, location + spread);
  const band = `left:${100 * low}%;width:${Math.max(2, 100 * (high - low))}%`;
  return make("div", {
    class: "place",
    children: [
      make("span", { text: `${Math.round(100 * location)} %` }),
      make("div", {
        class: "track",
        children: [make("i", { style: band }), make("em", { style: `left:${100 * location}%` })],
      }),
    ],
  });
}

function coverageOf({ coverage, mass }) {
  const off = Math.abs(mass - 1) > 0.05;
  return make("div", {
    class: off ? "coverage off" : "coverage",
    text: off ? `mass ${mass.toFixed(2)}` : `${Math.round(100 * coverage)} %`,
  });
}

const shown = new WeakMap(); // mount point -> BarycenterText

export default function barycenterText({ data, parentElement }) {
  const root = parentElement.querySelector(".hbt");
  let text = shown.get(parentElement);
  if (text?.root !== root) {
    text?.dispose();
    text = new BarycenterText(root);
    shown.set(parentElement, text);
  }
  text.show(data);
  return () => {
    text.dispose();
    shown.delete(parentElement);
  };
}
