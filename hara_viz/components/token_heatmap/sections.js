// Rollouts by outcome, and their order within it.

import { make } from "./dom.js";
import { mean } from "./values.js";

const SECTIONS = [
  [true, "✓", "Correct"],
  [false, "✗", "Incorrect"],
  [null, "?", "Unscored"],
];

// Ascending; unknown comes last.
const KEYS_OF_ORDER = {
  sample: (row) => row.sample,
  mean: (row, values) => -mean(values, row.token0, row.token0 + row.tokens),
  peak: (row, values) => -highest(values, row.token0, row.token0 + row.tokens),
  reward: (row) => -(row.reward ?? NaN),
  tokens: (row) => -row.tokens,
};

// [{cards, element}] of the outcomes that occur among the cards that `isShown`.
export function sectionsOf(cards, values, order, isShown) {
  const keyOf = (card) => {
    const key = KEYS_OF_ORDER[order](card.row, values);
    return Number.isNaN(key) ? Infinity : key;
  };
  return SECTIONS.map(([success, sign, word]) => {
    const all = cards.filter((card) => card.row.success === success);
    const own = all.filter(isShown);
    const shown = own.length < all.length ? `, ${own.length} shown` : "";
    const keys = new Map(own.map((card) => [card, keyOf(card)]));
    const byKey = (a, b) =>
      keys.get(a) === keys.get(b) ? a.row.sample - b.row.sample : keys.get(a) - keys.get(b);
    own.sort(byKey);
    const title = make("h3", {
      children: [
        make("span", { class: "verdict", text: sign }),
        make("span", { text: word }),
        make("span", { class: "dim", text: `${all.length} of ${cards.length}${shown}` }),
      ],
    });
    const children = [title, ...own.map((card) => card.element)];
    return {
      cards: own,
      element: make("section", { "aria-label": word, "data-success": String(success), children }),
    };
  }).filter((section) => section.cards.length);
}

function highest(values, from, to) {
  let best = NaN;
  for (let t = from; t < to; t++)
    if (!(values[t] <= best) && !Number.isNaN(values[t])) best = values[t];
  return best;
}
