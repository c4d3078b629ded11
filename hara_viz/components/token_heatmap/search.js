// Plain text search over all rollouts, ignoring case. Offsets are kept per cell on the folded text,
// because folding case can change a text's length.

export function findAll(frame, query, limit = 5000) {
  const needle = query.toLowerCase();
  const hits = [];
  if (!needle) return hits;
  frame.rows.forEach((row, r) => {
    const { text, starts } = foldedRow(frame, row);
    let at = text.indexOf(needle);
    while (at >= 0 && hits.length < limit) {
      const first = cellAt(starts, at);
      hits.push({
        row: r,
        first: row.cell0 + first,
        last: row.cell0 + cellAt(starts, at + needle.length - 1),
      });
      at = text.indexOf(needle, at + needle.length);
    }
  });
  return hits;
}

function foldedRow(frame, row) {
  const key = `folded ${row.cell0} ${row.sample}`;
  if (!frame.cache.has(key)) {
    const starts = new Uint32Array(row.cells);
    const parts = [];
    let length = 0;
    for (let c = 0; c < row.cells; c++) {
      const folded = frame.kinds[frame.cells[row.cell0 + c]].text.toLowerCase();
      starts[c] = length;
      length += folded.length;
      parts.push(folded);
    }
    frame.cache.set(key, { text: parts.join(""), starts });
  }
  return frame.cache.get(key);
}

function cellAt(starts, offset) {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
