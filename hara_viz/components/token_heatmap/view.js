// The view: the part of the app's selection that the heatmap shares (names as in
// hara_viz/ui/selection.py).

import { readAddress } from "./address.js";
import { signalOf } from "./values.js";

const SHARED = ["sample", "token", "signal", "underline", "granularity", "bounds"];

// What the bus said last, else the address.
export function initialView() {
  return { ...readAddress(), ...sharedOf(window.haraSelection) };
}

// The shared fields that an event carries.
export function sharedOf(detail) {
  const present = SHARED.filter((name) => detail && name in detail);
  return Object.fromEntries(present.map((name) => [name, detail[name]]));
}

// What is asked for, with what does not exist in this frame replaced by what does.
export function settled(asked, frame) {
  const view = { ...asked };
  if (!signalOf(frame, view.signal)) {
    Object.assign(view, { signal: frame.signals[0].name, bounds: null });
  }
  if (!signalOf(frame, view.underline)) view.underline = null;
  if (!["step", "rollout"].includes(view.granularity)) view.granularity = "token";
  const row = frame.rows.find((candidate) => candidate.sample === view.sample);
  if (!row) Object.assign(view, { sample: null, token: null });
  else if (view.token >= row.tokens) view.token = null;
  return view;
}
