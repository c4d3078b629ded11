// Bytes of two barycenters -> lists of atoms; the layout is described in frame.py.

import { demand, guarded, isCount, openEnvelope } from "../shared/envelope.js";

export function parseBarycenters(bytes) {
  return guarded(() => {
    const { header } = openEnvelope(bytes, "HARABARY", 1);
    demand(Array.isArray(header.sides) && header.sides.length === 2, "it has not two sides");
    const sides = header.sides.map(readSide);
    const links = header.links.map(([first, second, share, gap]) => {
      demand(first < sides[0].atoms.length && second < sides[1].atoms.length, "a link leads nowhere");
      return { first, second, share, gap };
    });
    return { content: String(header.content), sides, links };
  });
}

function readSide({ success, rollouts, empty, closest, atoms }) {
  return {
    success: Boolean(success),
    rollouts,
    empty: String(empty),
    closest: closest && { sample: closest[0], text: String(closest[1]) },
    atoms: atoms.map(([name, location, mass, spread, coverage, quotes]) => {
      demand(isCount(name) && Number.isFinite(location), "an atom has no place");
      return { name, location, mass, spread, coverage, quotes: quotes.map(readQuote) };
    }),
  };
}

function readQuote([sample, token, before, inside, after]) {
  demand(isCount(sample) && isCount(token), "a quote has no place");
  return { sample, token, before: String(before), inside: String(inside), after: String(after) };
}
