// The view: the part of the app's selection that the heatmap shares (names as in
// hara_viz/ui/selection.py).

import { readAddress } from "./address.js";
import { signalOf } from "./values.js";

const SHARED = ["sample", "token", "signal", "underline", "granularity", "bounds", "among"];

// What the bus said last, else the address.
export function initialView() {
  return { ...readAddress(), ...sharedOf(window.haraSelection) };
}

// The shared fields that an event carries.
export function sharedOf(detail) {
  const present = SHARED.filter((name) => detail && name in detail);
  return Object.fromEntries(present.map((name) => [name, detail[name]]));
}

// What is asked for, with what does not exist in this frame replaced by what does. A signal that is
// on its way is `awaited`; meanwhile the one shown `before` stays.
export function settled(asked, frame, before = null) {
  const view = { ...asked, awaited: {} };
  const fallback = { signal: frame.signals[0].name, underline: null };
  for (const field of ["signal", "underline"]) {
    if (signalOf(frame, view[field])) continue;
    if (isOnItsWay(frame, view[field])) view.awaited[field] = view[field];
    else if (field === "signal") view.bounds = null;
    const shown = before?.[field];
    view[field] = view.awaited[field] && signalOf(frame, shown) ? shown : fallback[field];
  }
  if (view.awaited.signal) view.bounds = null;
  const known = new Set(frame.rows.map(({ sample }) => sample));
  view.among = (asked.among ?? []).filter((sample) => known.has(sample));
  if (!["step", "rollout"].includes(view.granularity)) view.granularity = "token";
  const row = frame.rows.find((candidate) => candidate.sample === view.sample);
  if (!row) Object.assign(view, { sample: null, token: null });
  else if (view.token >= row.tokens) view.token = null;
  return view;
}

function isOnItsWay(frame, name) {
  return frame.offers.some((offer) => offer.name === name && !offer.locked);
}

// The view as it will be once what is awaited has come: what links and Python hear of.
export function wished({ awaited, ...view }, asked) {
  return { ...view, ...awaited, bounds: awaited.signal ? asked.bounds : view.bounds };
}
