// The pinned token; see __init__.py.

import { readAddress, writeAddress } from "../token_heatmap/address.js";
import { make } from "../token_heatmap/dom.js";
import { figure, percent } from "./figures.js";

const SOURCE = "token_card";
const SIGNS = new Map([[true, ["✓", "right"]], [false, ["✗", "wrong"]], [null, ["?", "unscored"]]]);

class TokenCard {
  constructor(root) {
    this.root = root;
    this.host = null; // {setTriggerValue}
    this.picked = false; // a row was pressed, and the answer is still to come
    this.abort = new AbortController();
    window.addEventListener("hara:card", () => this.hear(), { signal: this.abort.signal });
  }

  // The words that the carrier has brought.
  hear() {
    const data = window.haraCard ?? null;
    const told = JSON.stringify(data);
    if (told === this.told) return;
    this.told = told;
    this.data = data;
    this.root.hidden = data === null;
    if (data === null) this.root.replaceChildren();
    else this.show(data);
  }

  show(data) {
    const { sample, token, note, atoms, counterparts, similar, layer } = data;
    this.heading = make("h3", { text: `Token ${token} of rollout ${sample}`, tabindex: "-1" });
    this.root.replaceChildren(
      this.heading,
      make("p", { class: "excerpt", children: words(...data.text) }),
      make("p", { class: "dim", text: data.facts }),
      valuesOf(data.values),
      ...(note ? [make("p", { class: "dim", text: note })] : []),
      ...(atoms.length ? [atomsOf(atoms), this.counterpartsOf(counterparts)] : []),
      ...(layer === null ? [] : [this.similarOf(similar, layer)]),
    );
    Object.assign(this.root.dataset, { sample, token });
    // The row that was pressed is gone: whoever works by keyboard or ear goes on at the top.
    if (this.picked) this.heading.focus({ preventScroll: false });
    this.picked = false;
  }

  counterpartsOf(quotes) {
    const rows = quotes.map((quote) => [cell(quote[0], "number"), this.linkTo(quote)]);
    const caption = "Its counterparts through the nearest atom";
    return table("counterparts", caption, [["rollout", "number"], ["text"]], rows);
  }

  similarOf(quotes, layer) {
    const rows = quotes.map((quote) => {
      const [sample, , , , , success, cosine] = quote;
      const [sign, meaning] = SIGNS.get(success);
      return [
        cell(sample, "number"),
        make("td", { class: "sign", text: sign, title: meaning, "aria-label": meaning }),
        cell(cosine.toFixed(3).replace("-", "−"), "number"),
        this.linkTo(quote),
      ];
    });
    const caption = `Most similar states (layer ${layer}), of either outcome`;
    const heads = [["rollout", "number"], ["right", "sign"], ["cosine", "number"], ["text"]];
    return table("similar", caption, heads, rows);
  }

  linkTo([sample, token, before, inside, after]) {
    const button = make("button", {
      type: "button",
      title: `token ${token} of rollout ${sample}`,
      children: words(before, inside, after),
      on: { click: () => this.pick(sample, token) },
    });
    return make("td", { children: [button] });
  }

  pick(sample, token) {
    this.picked = true;
    const linked = writeAddress({ ...readAddress(), sample, token }, sample !== this.data.sample);
    const detail = { sample, token, source: SOURCE, user: true, reported: true };
    window.dispatchEvent(new CustomEvent("hara:select", { detail }));
    this.host.setTriggerValue("pick", { sample, token, linked });
  }

  dispose() {
    this.abort.abort();
  }
}

function valuesOf(values) {
  const rows = values.map(([label, value, below]) => [
    make("th", { scope: "row", text: label }),
    make("td", { class: "number", text: figure(value), title: value === null ? "unknown" : value }),
    cell(percent(below), "number"),
  ]);
  const told = "Share of the group's tokens with a smaller value";
  return table("values", null, [["signal"], ["value", "number"], ["below", "number", told]], rows);
}

function atomsOf(atoms) {
  const named = atoms.some(([, , text]) => text !== null);
  const rows = atoms.map(([atom, share, text]) => [
    cell(atom, "number"),
    cell(percent(share), "number"),
    ...(named ? [make("td", { title: text, children: [make("bdi", { text })] })] : []),
  ]);
  const caption = "Where its mass goes, and what stands there";
  const heads = [["atom", "number"], ["share", "number"], ...(named ? [["stands for"]] : [])];
  return table("atoms", caption, heads, rows);
}

function table(name, caption, heads, rows) {
  const head = heads.map(([text, kind, title]) => make("th", { scope: "col", class: kind, text, title }));
  return make("table", {
    "data-list": name,
    children: [
      caption ? make("caption", { text: caption }) : null,
      make("thead", { children: [make("tr", { children: head })] }),
      make("tbody", { children: rows.map((children) => make("tr", { children })) }),
    ],
  });
}

function cell(text, kind) {
  return make("td", { class: kind, text: String(text) });
}

function words(before, inside, after) {
  return [
    make("bdi", { text: before }),
    make("mark", { children: [make("bdi", { text: inside })] }),
    make("bdi", { text: after }),
  ];
}

const cards = new WeakMap(); // mount point -> TokenCard

export default function tokenCard({ parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".htc");
  let card = cards.get(parentElement);
  if (card?.root !== root) {
    card?.dispose();
    card = new TokenCard(root);
    cards.set(parentElement, card);
  }
  card.host = { setTriggerValue };
  card.hear();
  return () => {
    card.dispose();
    cards.delete(parentElement);
  };
}
