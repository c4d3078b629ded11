// What a table holds, without any element: which rows a token lights, and the order of rows. Pure.

// Is the token within a spot, [sample, first, past the last]?
export function isIn([sample, first, stop], { sample: ofSample, token }) {
  return sample === ofSample && Number.isInteger(token) && first <= token && token < stop;
}

// Numbers of the rows with a spot that holds the selected token.
export function litRows(rows, selected) {
  return rows.flatMap(({ spots }, i) => (spots.some((spot) => isIn(spot, selected)) ? [i] : []));
}

// Numbers of the rows in the order of a column: direction 1 ascending, -1 descending, 0 as given.
// What is unknown comes last either way; equals stay as they were.
export function orderOf(rows, column, direction) {
  const order = rows.map((_, i) => i);
  if (!direction) return order;
  const valueOf = (i) => rows[i].cells[column][1];
  return order.sort((a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (x === y) return a - b;
    if (x === null || y === null) return x === null ? 1 : -1;
    const before = typeof x === "string" && typeof y === "string" ? x.localeCompare(y) : x - y;
    return direction * before || a - b;
  });
}
