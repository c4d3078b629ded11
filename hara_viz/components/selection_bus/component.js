// The selection between Python and the views of a page; see __init__.py.

import { joinEntries } from "./history.js";

const SOURCE = "python";
const QUIET = 150; // milliseconds without a move before Python hears of it
const ON_ITS_WAY = 300; // milliseconds from a move until Python has surely been told
const REMEMBERED = 100; // moves of the user that Python may still answer

export class SelectionBus {
  constructor(page, host) {
    this.page = page; // window, or an EventTarget in tests
    this.host = host;
    this.said = null; // what Python said last, as text
    this.now = {}; // the selection as the page sees it
    this.moves = []; // snapshots of `now` after each move of the user, as text
    this.pending = {};
    this.timer = null;
    this.listener = (event) => this.hear(event.detail);
    page.addEventListener("hara:select", this.listener);
    this.movedAt = -Infinity;
    this.onLink = (event) => this.holdBack(event);
    page.addEventListener("click", this.onLink, { capture: true });
  }

  // A link that is followed while a move is still on its way to Python: the move would arrive second
  // and, as it names the page that it was made on, take the reader back there. So the link waits.
  holdBack(event) {
    const link = event.composedPath().find((node) => node.tagName === "A");
    const left = this.movedAt + ON_ITS_WAY - performance.now();
    if (!link || left <= 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    setTimeout(() => link.click(), left);
  }

  // Python's word. Only news is passed on.
  say(selection) {
    const text = snapshot(selection);
    if (text === this.said) return;
    this.said = text;
    const answered = this.moves.lastIndexOf(text);
    if (answered >= 0) {
      this.moves.splice(0, answered + 1);
      return;
    }
    this.moves = [];
    this.now = { ...selection };
    this.page.haraSelection = this.now;
    this.page.dispatchEvent(
      new CustomEvent("hara:select", { detail: { ...selection, source: SOURCE, user: false } }),
    );
  }

  hear(detail) {
    if (!detail || detail.source === SOURCE || !detail.user) return;
    const { source: _source, user: _user, reported, ...moved } = detail;
    this.now = { ...this.now, ...moved };
    this.page.haraSelection = this.now;
    this.movedAt = performance.now();
    this.moves.push(snapshot(this.now));
    if (this.moves.length > REMEMBERED) this.moves.shift();
    if (reported) return;
    Object.assign(this.pending, moved);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), QUIET);
  }

  tell() {
    const moved = this.pending;
    this.pending = {};
    this.host.setTriggerValue("move", moved);
  }

  dispose() {
    clearTimeout(this.timer);
    this.page.removeEventListener("hara:select", this.listener);
    this.page.removeEventListener("click", this.onLink, { capture: true });
  }
}

// Independent of the order in which fields were set.
function snapshot(selection) {
  return JSON.stringify(Object.entries(selection).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const buses = new WeakMap(); // mount point -> SelectionBus

export default function selectionBus({ data, parentElement, setTriggerValue }) {
  let bus = buses.get(parentElement);
  if (!bus) {
    bus = new SelectionBus(window, { setTriggerValue });
    bus.separateEntries = joinEntries(window.history, window.location);
    buses.set(parentElement, bus);
  }
  bus.host = { setTriggerValue };
  if (data) bus.say(data);
  return () => {
    bus.separateEntries();
    bus.dispose();
    buses.delete(parentElement);
  };
}
