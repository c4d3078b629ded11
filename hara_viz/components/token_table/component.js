// The table: one instance for a mount point, however often Streamlit calls the entry below.

import { SharedSelection } from "../shared/selection.js";
import { make } from "../token_heatmap/dom.js";
import { isIn, litRows, orderOf } from "./rows.js";

const LINE = 29; // pixels of a row, as in component.css
const SIGNS = new Map([
  [1, ["▴", "ascending"]],
  [-1, ["▾", "descending"]],
  [0, ["", "none"]],
]);

class TokenTable {
  constructor(root, name) {
    this.root = root;
    this.builds = 0;
    this.sorted = { column: 0, direction: 0 };
    this.scroller = make("div", { class: "scroller" });
    root.replaceChildren(this.scroller);
    this.selection = new SharedSelection(`token_table ${name}`, () => this.mark(true));
    this.scroller.addEventListener("click", (event) => this.onClick(event));
    this.scroller.addEventListener("keydown", (event) => this.onKey(event));
  }

  dispose() {
    this.selection.dispose();
  }

  show(data) {
    if (data.content === this.data?.content) return;
    const isSameKind = this.data?.columns.length === data.columns.length;
    this.data = data;
    if (!isSameKind) this.sorted = { column: 0, direction: 0 };
    this.build();
    Object.assign(this.root.dataset, { builds: ++this.builds, ready: "yes" });
  }

  build() {
    const { columns, rows } = this.data;
    const widths = make("colgroup", {
      children: columns.map(({ width }) => make("col", { style: `width:${Number(width)}px` })),
    });
    const total = columns.reduce((sum, { width }) => sum + Number(width), 0);
    this.heads = columns.map((column, i) => this.headOf(column, i));
    const head = make("thead", { children: [make("tr", { children: this.heads })] });
    this.body = make("tbody", {});
    this.lines = rows.map((row, i) => this.lineOf(row, i));
    const table = make("table", {
      role: "grid",
      "aria-rowcount": rows.length + 1,
      style: `min-width:${total}px`,
      children: [widths, head, this.body],
    });
    this.scroller.style.maxHeight = `${LINE * (Number(this.data.most) + 1) + 2}px`;
    this.scroller.replaceChildren(table);
    this.arrange();
    this.mark(true);
  }

  headOf({ label, help, numeric }, i) {
    const turn = () => {
      const { column, direction } = this.sorted;
      const next = { 0: 1, 1: -1, [-1]: 0 };
      this.sorted = { column: i, direction: column === i ? next[direction] : 1 };
      this.arrange();
    };
    const button = make("button", { type: "button", title: help, on: { click: turn } });
    return make("th", { scope: "col", class: numeric ? "number" : null, children: [button] });
  }

  lineOf({ cells, own }, i) {
    const { columns } = this.data;
    const children = cells.map(([text], place) => {
      const kind = [columns[place].numeric && "number", own[place] && "own"].filter(Boolean);
      const attributes = { class: kind.join(" ") || null, title: text.length > 12 ? text : null };
      return make("td", { ...attributes, "data-column": place, dir: "auto", text });
    });
    return make("tr", { "data-row": i, tabindex: "-1", children });
  }

  arrange() {
    const { columns, rows } = this.data;
    const { column, direction } = this.sorted;
    this.body.replaceChildren(...orderOf(rows, column, direction).map((i) => this.lines[i]));
    this.heads.forEach((head, i) => {
      const [sign, word] = SIGNS.get(i === column ? direction : 0);
      head.setAttribute("aria-sort", word);
      head.firstChild.textContent = `${columns[i].label}${sign && ` ${sign}`}`;
    });
    this.reach(this.body.querySelector(".lit") ?? this.body.firstChild);
  }

  // One row can be reached by the tabulator, arrows lead to the others.
  reach(line) {
    for (const other of this.lines) other.tabIndex = other === line ? 0 : -1;
  }

  // Light what the selection is at; `follows`: it was moved elsewhere, so bring it into sight.
  mark(follows) {
    if (!this.data) return;
    const { now } = this.selection;
    const lit = new Set(litRows(this.data.rows, now));
    this.lines.forEach((line, i) => {
      line.classList.toggle("lit", lit.has(i));
      line.setAttribute("aria-selected", String(lit.has(i)));
      for (const [place, spot] of Object.entries(this.data.rows[i].own))
        line.children[place].classList.toggle("lit", isIn(spot, now));
    });
    this.root.dataset.lit = lit.size;
    const first = this.body.querySelector("tr.lit, tr:has(td.lit)");
    if (!first) return;
    this.reach(first);
    if (follows) this.reveal(first);
  }

  // Within the table alone: the page stays where it is.
  reveal(line) {
    const { scroller } = this;
    const under = line.offsetTop - line.offsetHeight; // the heads stick to the top
    const over = line.offsetTop + line.offsetHeight - scroller.clientHeight;
    if (scroller.scrollTop > under) scroller.scrollTop = under;
    else if (scroller.scrollTop < over) scroller.scrollTop = over;
  }

  onClick({ target }) {
    const line = target.closest("tr[data-row]");
    if (!line || this.isMarkingText()) return;
    this.pick(Number(line.dataset.row), target.closest("td")?.dataset.column);
  }

  isMarkingText() {
    const selection = this.root.getRootNode().getSelection?.() ?? window.getSelection();
    return !selection.isCollapsed;
  }

  pick(i, column) {
    const { spots, own } = this.data.rows[i];
    const spot = own[column] ?? spots[0];
    if (!spot) return;
    this.selection.move(spot[0], spot[1]);
    this.mark(false);
  }

  onKey(event) {
    const line = event.target.closest("tr[data-row]");
    if (!line || event.ctrlKey || event.metaKey || event.altKey) return;
    const { firstChild, lastChild } = this.body;
    const next = {
      ArrowDown: line.nextSibling,
      ArrowUp: line.previousSibling,
      Home: firstChild,
      End: lastChild,
    };
    if (event.key === "Enter") this.pick(Number(line.dataset.row));
    else if (!(event.key in next)) return;
    else if (next[event.key]) {
      this.reach(next[event.key]);
      next[event.key].focus();
      this.reveal(next[event.key]);
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

const tables = new WeakMap(); // mount point -> TokenTable

export default function tokenTable({ data, parentElement }) {
  if (!data) return;
  const root = parentElement.querySelector(".htt");
  let table = tables.get(parentElement);
  if (table?.root !== root) {
    table?.dispose();
    table = new TokenTable(root, data.name);
    tables.set(parentElement, table);
  }
  table.show(data);
  return () => {
    table.dispose();
    tables.delete(parentElement);
  };
}
