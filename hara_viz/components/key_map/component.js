// The keyboard map of the page on `?`, the lecture view on `f`; see __init__.py.

const EDITABLE = "input, textarea, select, [contenteditable], [contenteditable] *";
const LECTURE = "hara-lecture";

export class KeyMap {
  constructor(root) {
    this.root = root;
    this.data = null;
    this.dialog = document.createElement("dialog");
    this.dialog.setAttribute("aria-labelledby", "hara-keys-title");
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close(); // beside the map
    });
    root.replaceChildren(this.dialog);
    this.abort = new AbortController();
    const { signal } = this.abort;
    // In the capture phase: a view that has a map for itself (the heatmap, when it stands alone in an
    // exported page) must not open a second one.
    window.addEventListener("keydown", (event) => this.hear(event), { signal, capture: true });
    document.addEventListener("fullscreenchange", () => this.onFullscreen(), { signal });
  }

  show(data) {
    const turned = this.data && data.page !== this.data.page;
    this.data = data;
    if (turned && !data.lecture) leave();
    if (this.dialog.open) this.fill();
  }

  hear(event) {
    if (!this.data || event.ctrlKey || event.metaKey || event.altKey) return;
    const origin = event.composedPath()[0];
    if (origin instanceof Element && origin.matches(EDITABLE)) return;
    if (event.key === "?" || (event.key === "Escape" && this.dialog.open)) this.toggle();
    else if (event.key === "f" && this.data.lecture && !this.dialog.open) lecture();
    else if (isLecture() && this.turn(event.key, origin)) {
      // A step was turned, whatever had the focus.
    } else if (event.key === "Escape" && isLecture() && !this.dialog.open) leave();
    else if (this.dialog.open && event.key.trim().length === 1) {
      // Nothing behind the map may act on a key that was meant for it.
    } else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // In a lecture the arrows turn steps, also when a step that was clicked has the focus; a slider keeps
  // its own.
  turn(key, origin) {
    const selector = { ArrowLeft: this.data.lecture?.back, ArrowRight: this.data.lecture?.next }[key];
    if (!selector || this.dialog.open || origin.closest?.("[role=slider], [role=combobox]")) return false;
    document.querySelector(selector)?.click();
    return true;
  }

  toggle() {
    if (this.dialog.open) return this.dialog.close();
    this.fill();
    this.dialog.showModal();
  }

  fill() {
    const { page, sections, pages } = this.data;
    const close = element("button", { text: "Close", type: "button" });
    close.addEventListener("click", () => this.dialog.close());
    this.dialog.replaceChildren(
      element("h2", { text: `Keys of the page ${page}`, id: "hara-keys-title" }),
      ...sections.flatMap(([heading, rows]) => [element("h3", { text: heading }), keyList(rows)]),
      element("h3", { text: "Pages" }),
      element("dl", { children: pages.flatMap(([title, question]) => pair(title, question, "dt")) }),
      close,
    );
  }

  onFullscreen() {
    if (!document.fullscreenElement) document.documentElement.classList.remove(LECTURE);
  }

  dispose() {
    leave();
    this.abort.abort();
    this.root.replaceChildren();
  }
}

function isLecture() {
  return document.documentElement.classList.contains(LECTURE);
}

function lecture() {
  if (isLecture()) return leave();
  document.documentElement.classList.add(LECTURE);
  // A browser may refuse the screen (a policy, an embedded page): the view is large all the same.
  document.documentElement.requestFullscreen?.().catch(() => {});
}

function leave() {
  document.documentElement.classList.remove(LECTURE);
  if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
}

function keyList(rows) {
  return element("dl", { children: rows.flatMap(([key, meaning]) => pair(key, meaning, "kbd")) });
}

function pair(term, meaning, kind) {
  const inside = kind === "kbd" ? [element("kbd", { text: term })] : [];
  const head = element("dt", inside.length ? { children: inside } : { text: term });
  return [head, element("dd", { text: meaning })];
}

function element(tag, { text, children, ...attributes } = {}) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  made.append(...(children ?? []));
  return made;
}

const maps = new WeakMap(); // mount point -> KeyMap

export default function keyMap({ data, parentElement }) {
  let map = maps.get(parentElement);
  if (!map) {
    map = new KeyMap(parentElement.querySelector(".hara-keys"));
    maps.set(parentElement, map);
  }
  if (data) map.show(data);
  return () => {
    map.dispose();
    maps.delete(parentElement);
  };
}
