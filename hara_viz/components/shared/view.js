// Zoom and pan along an axis of n items: {from: the first item shown (fractional), per: pixels an
// item takes}. Pure; views are never changed, new ones are made.

export const MOST_PIXELS = 64; // per item

export function fitted(n, width) {
  return { from: 0, per: width / Math.max(1, n) };
}

export function clamped(view, n, width) {
  const least = width / Math.max(1, n);
  const per = Math.min(Math.max(view.per, least), Math.max(least, MOST_PIXELS));
  const last = Math.max(0, n - width / per);
  return { from: Math.min(Math.max(view.from, 0), last), per };
}

// The item under pixel x stays under it.
export function zoomed(view, x, factor, n, width) {
  const item = view.from + x / view.per;
  const { per } = clamped({ from: 0, per: view.per * factor }, n, width);
  return clamped({ from: item - x / per, per }, n, width);
}

export function panned(view, pixels, n, width) {
  return clamped({ ...view, from: view.from - pixels / view.per }, n, width);
}

export function itemAt(view, x, n) {
  const item = Math.floor(view.from + x / view.per);
  return item >= 0 && item < n ? item : null;
}

export function pixelOf(view, item) {
  return (item - view.from) * view.per;
}

// The view moved, if need be, so that an item is in sight with some room around it.
export function revealed(view, item, n, width) {
  const x = pixelOf(view, item + 0.5);
  if (x >= 0 && x <= width) return view;
  return clamped({ ...view, from: item + 0.5 - width / view.per / 2 }, n, width);
}

// Round numbers, at least `apart` pixels from each other.
export function ticks(view, n, width, apart = 60) {
  const least = apart / view.per;
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= least));
  const marks = [];
  const last = Math.min(n - 1, view.from + width / view.per);
  for (let t = Math.ceil(view.from / step) * step; t <= last; t += step) marks.push(t);
  return marks;
}
