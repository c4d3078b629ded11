// The part of the app's selection that canvas components share: rollout and token. A user's move is
// told at once to the address and to the other views; the selection bus passes it on to Python.

import { readAddress, writeAddress } from "../token_heatmap/address.js";

export class SharedSelection {
  // `source`: this component's name; `onMove`: called when somebody else moved.
  constructor(source, onMove) {
    this.source = source;
    this.now = { ...pick(readAddress()), ...pick(window.haraSelection ?? {}) };
    this.abort = new AbortController();
    const { signal } = this.abort;
    const take = (moved) => {
      Object.assign(this.now, pick(moved));
      onMove();
    };
    window.addEventListener(
      "hara:select",
      ({ detail }) => {
        if (detail && detail.source !== source) take(detail);
      },
      { signal },
    );
    window.addEventListener("popstate", () => take(readAddress()), { signal });
  }

  // The user's own move.
  move(sample, token) {
    const isNewEntry = sample !== this.now.sample;
    this.now = { sample, token };
    writeAddress({ ...readAddress(), sample, token }, isNewEntry);
    const detail = { sample, token, source: this.source, user: true };
    window.dispatchEvent(new CustomEvent("hara:select", { detail }));
  }

  dispose() {
    this.abort.abort();
  }
}

function pick(moved) {
  const fields = ["sample", "token"].filter((name) => moved[name] !== undefined);
  return Object.fromEntries(fields.map((name) => [name, moved[name]]));
}
