// Pointer on the text: one listener for all cells, whatever is drawn.

import { SEEN } from "./reporter.js";

export class Pointer {
  constructor(app) {
    this.app = app;
    this.hovered = null;
  }

  hover(target) {
    const span = target.closest("[data-cell]");
    if (!span) this.app.tooltip.hide();
    else if (span !== this.hovered || this.app.tooltip.element.hidden) this.tell(span);
    this.hovered = span;
  }

  tell(span) {
    const { app } = this;
    app.tooltip.show({
      frame: app.frame,
      view: app.view,
      row: this.rowOf(span),
      cell: Number(span.dataset.cell),
      at: span.getBoundingClientRect(),
      frameBox: app.root.getBoundingClientRect(),
    });
  }

  // Pins a cell's first token; the pinned cell again unpins.
  click(target) {
    const span = target.closest("[data-cell]");
    // Within a shadow root only the root itself knows what is selected.
    const selection = this.app.root.getRootNode().getSelection?.() ?? window.getSelection();
    if (!span || !selection.isCollapsed) return; // a reader is marking text to copy it
    const row = this.rowOf(span);
    const cell = Number(span.dataset.cell);
    const first = this.app.frame.firstToken[cell] - row.token0;
    this.app.pin(row.sample, this.app.isPinned(row, cell) ? null : first, SEEN);
  }

  rowOf(span) {
    return this.app.cardOf(Number(span.closest("article").dataset.sample)).row;
  }
}
