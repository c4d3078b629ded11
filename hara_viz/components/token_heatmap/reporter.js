// Who hears of a user's move: other views and the address at once, Python once the user rests.

import { writeAddress } from "./address.js";

export const SOURCE = "token_heatmap";
export const QUIET = 150; // milliseconds without a move before Python hears of it
// Until a move is on the screen: what Streamlit does with a report would delay its frame.
export const SEEN = 30;

export class Reporter {
  constructor(host) {
    this.host = host; // {setTriggerValue}; null in a page that stands alone, with no Python to hear
    this.waiting = new Map(); // reports that have not left yet, in the order of the moves
    this.timer = null;
  }

  // Each report costs a run of the script. They leave in the order of the moves, so one that leaves
  // soon takes along those that wait.
  tell(name, value, delay = SEEN) {
    this.waiting.delete(name);
    this.waiting.set(name, value);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), delay);
  }

  send() {
    clearTimeout(this.timer);
    const reports = [...this.waiting];
    this.waiting.clear();
    for (const [name, value] of reports) this.host.setTriggerValue?.(name, value);
  }

  // Tells whether the move stands in the address.
  announce(view, moved, isNewEntry) {
    const linked = writeAddress(view, isNewEntry);
    const detail = { ...moved, source: SOURCE, user: true, reported: true };
    window.dispatchEvent(new CustomEvent("hara:select", { detail }));
    return linked;
  }

  dispose() {
    clearTimeout(this.timer);
  }
}
