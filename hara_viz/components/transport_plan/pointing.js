// Pointer, wheel and keys over the matrix. A drag moves the view, with shift it chooses a span; a click
// selects a token or an atom.

import { fitted, itemAt, panned } from "../shared/view.js";
import { mainAtom } from "./frame.js";
import { atomAt, GUTTER } from "./paint.js";
import { neighbour, NOTHING, spanOf } from "./span.js";

export function listen(plan) {
  const { canvas } = plan;
  canvas.addEventListener("pointermove", (event) => onPointer(plan, event));
  canvas.addEventListener("pointerleave", (event) => plan.point(NOTHING, event));
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !plan.frame || !plan.boxes) return;
    const { token } = placeOf(plan, event);
    plan.drag = { x: event.clientX, from: plan.view, token: event.shiftKey ? token : null, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", (event) => onRelease(plan, event));
  canvas.addEventListener("wheel", (event) => onWheel(plan, event), { passive: false });
  canvas.addEventListener("keydown", (event) => onKey(plan, event));
  plan.resize = new ResizeObserver(() => plan.onResize());
  plan.resize.observe(canvas);
}

// Where the pointer is: {token, atom}.
function placeOf(plan, event) {
  const box = plan.canvas.getBoundingClientRect();
  const x = event.clientX - box.left - GUTTER;
  const y = event.clientY - box.top;
  // A span that is being drawn goes on beside the matrix, up to the last token in sight.
  if (x >= plan.width && !plan.drag) return NOTHING;
  const atom = atomAt(plan.boxes, y, plan.frame.atoms.length);
  if (x < 0) return { token: null, atom };
  return { token: itemAt(plan.view, Math.min(x, plan.width - 1), plan.frame.tokens), atom };
}

function onPointer(plan, event) {
  if (!plan.frame || !plan.boxes) return;
  if (plan.drag) {
    const moved = event.clientX - plan.drag.x;
    if (Math.abs(moved) > 3) plan.drag.moved = true;
    if (plan.drag.moved && plan.drag.token !== null) {
      const { token } = placeOf(plan, event);
      if (token !== null) plan.setSpan(spanOf(plan.drag.token, token));
      return;
    }
    if (plan.drag.moved) {
      plan.tip.hidden = true;
      plan.setView(panned(plan.drag.from, moved, plan.frame.tokens, plan.width));
      return;
    }
  }
  plan.point(placeOf(plan, event), event);
}

function onRelease(plan, event) {
  const { drag } = plan;
  plan.drag = null;
  if (!drag || drag.moved || !plan.boxes) return;
  const { token, atom } = placeOf(plan, event);
  if (token !== null) plan.pick(token);
  else if (atom !== null) plan.pickAtom(atom);
}

function onWheel(plan, event) {
  if (!plan.frame) return;
  const x = event.clientX - plan.canvas.getBoundingClientRect().left - GUTTER;
  if (event.ctrlKey || event.metaKey) plan.zoom(Math.exp(-event.deltaY / 300), Math.max(0, Math.min(x, plan.width)));
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey)
    plan.setView(
      panned(plan.view, -(event.deltaX || event.deltaY), plan.frame.tokens, plan.width),
    );
  else return; // the page scrolls
  event.preventDefault();
}

function onKey(plan, event) {
  if (!plan.frame || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && plan.frame.tokens) {
    const at = plan.pinned();
    const token = at === null ? 0 : Math.max(0, Math.min(plan.frame.tokens - 1, at + step));
    if (token !== at) plan.pick(token);
    const atom = mainAtom(plan.frame, token);
    const name = atom === null ? "no atom" : `atom ${plan.frame.atoms[atom].name}`;
    plan.spoken.textContent = `Token ${token}, mostly to ${name}`;
  } else if (event.key === "[" || event.key === "]")
    plan.setSpan(neighbour(plan.frame, plan.span, event.key === "]" ? 1 : -1));
  else if (event.key === "+") plan.zoom(1.6);
  else if (event.key === "-") plan.zoom(1 / 1.6);
  else if (event.key === "0") plan.setView(fitted(plan.frame.tokens, plan.width));
  else return;
  event.preventDefault();
  event.stopPropagation();
}
