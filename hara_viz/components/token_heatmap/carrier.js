// Carries the bytes of a further signal from Python to the heatmaps of the page, those that are
// there and those that are still to come; it draws nothing.

const KEPT = 4; // fill and underline, of this frame and of the one before

export default function carrier({ data }) {
  if (!(data instanceof Uint8Array) || !data.length) return;
  const others = (window.haraSignals ?? []).filter((bytes) => bytes !== data);
  window.haraSignals = [...others, data].slice(-KEPT);
  window.dispatchEvent(new CustomEvent("hara:signal", { detail: data }));
}
