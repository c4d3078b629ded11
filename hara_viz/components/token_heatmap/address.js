// The view <-> the page's address, under the names of hara_viz/ui/link.py. A page without a usable
// address (about:blank, a file under a strict policy) simply keeps none.

const NAMES = {
  signal: "signal",
  underline: "under",
  granularity: "level",
  bounds: "bounds",
  sample: "rollout",
  token: "token",
};
const DEFAULTS = { signal: "novelty", granularity: "token" };

export function readAddress(search = window.location.search) {
  const query = new URLSearchParams(search);
  const view = {};
  for (const name of ["sample", "token"]) {
    const text = query.get(NAMES[name]) ?? "";
    view[name] = /^\d{1,11}$/.test(text) ? Number(text) : null;
  }
  view.signal = query.get("signal") ?? DEFAULTS.signal;
  view.underline = query.get("under");
  const level = query.get("level");
  view.granularity = ["step", "rollout"].includes(level) ? level : "token";
  const bounds = (query.get("bounds") ?? "").split("..").map(Number);
  view.bounds =
    bounds.length === 2 && bounds.every(Number.isFinite) && bounds[0] < bounds[1] ? bounds : null;
  const among = query.get("among") ?? ""; // read alone: Python writes it
  view.among = /^\d{1,11}(-\d{1,11})*$/.test(among) ? among.split("-").map(Number) : [];
  return view;
}

export function queryOf(view, search) {
  const query = new URLSearchParams(search);
  for (const [field, name] of Object.entries(NAMES)) {
    query.delete(name);
    const value = view[field];
    if (value === null || value === undefined || value === DEFAULTS[field]) continue;
    query.set(name, field === "bounds" ? value.join("..") : String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}

// Another rollout makes a history entry; all else replaces the present one. Tells whether the
// address says what the view does.
export function writeAddress(view, isNewEntry) {
  try {
    const { pathname, hash, search } = window.location;
    const query = queryOf(view, search);
    if (query === search) return true;
    const method = isNewEntry ? "pushState" : "replaceState";
    window.history[method](window.history.state, "", `${pathname}${query}${hash}`);
    return true;
  } catch {
    return false; // nothing is lost but the link
  }
}
