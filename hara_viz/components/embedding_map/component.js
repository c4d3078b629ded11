// The map: one instance for a mount point, however often Streamlit calls the entry below.

import { FrameError } from "../shared/envelope.js";
import { SharedSelection } from "../shared/selection.js";
import { isDark } from "../token_heatmap/colour.js";
import { make } from "../token_heatmap/dom.js";
import { anchorLegend } from "./anchors.js";
import { drawingOrder, pointColours } from "./colours.js";
import { densityOf } from "./density.js";
import { parseMap, pathOf, pathsOf, pointOf, samePlaces } from "./frame.js";
import { keptLasso, leaveLasso, tellLasso } from "./lasso.js";
import { PointLayer } from "./layer.js";
import { paintMap, radiusOf } from "./paint.js";
import { pathLegend, waysOf } from "./paths.js";
import { SliceBar } from "./slices.js";
import { fittedCamera, isInside, pannedCamera, PointGrid, toMap, toScreen, zoomedCamera } from "./space.js";
import { atomLegend, atomTip, densityLegend, legendOf, placeOf, textOf, tipOf } from "./words.js";

const HEIGHT = 430;
const REACH = 9; // pixels within which a point is meant

export class EmbeddingMap {
  constructor(root, host) {
    this.root = root;
    this.host = host;
    this.builds = 0;
    this.hover = null;
    this.atom = null;
    this.chosen = null;
    this.lasso = [];
    this.layer = new PointLayer();
    this.local = { lasso: false, path: false, atoms: true, anchors: true, density: false };
    this.legend = make("span", {});
    this.crowd = make("span", { class: "legend crowd" });
    this.buttons = {
      density: this.toggle("density", "How many points lie where, beneath the points"),
      atoms: this.toggle("atoms", "Barycenter atoms on or off"),
      anchors: this.toggle("anchors", "Tokens nearest to the anchors on or off"),
      path: this.toggle("path", "The selected rollout as a line"),
      lasso: this.toggle("lasso", "Draw around points (or hold shift and drag)"),
    };
    this.bar = make("div", {
      class: "bar",
      children: [
        this.legend,
        this.crowd,
        make("span", { class: "spring" }),
        make("span", {
          class: "tools",
          children: [
            ...Object.values(this.buttons),
            this.button("−", "Zoom out", () => this.zoom(1 / 1.6)),
            this.button("+", "Zoom in", () => this.zoom(1.6)),
            this.button("fit", "Show all points", () => this.refit()),
          ],
        }),
      ],
    });
    this.slices = new SliceBar((places, isAtRest) => this.wander(places, isAtRest));
    this.canvas = make("canvas", { tabindex: "0", role: "img" });
    this.canvas.style.height = `${HEIGHT}px`;
    this.picked = make("div", { class: "picked", role: "status" });
    this.tip = make("div", { class: "tip", role: "tooltip", hidden: true });
    root.replaceChildren(this.bar, this.slices.root, this.canvas, this.picked, this.tip);
    root.pointPlace = (i) => toScreen(this.camera, this.frame.x[i], this.frame.y[i], this.width, HEIGHT);
    this.selection = new SharedSelection("embedding_map", () => this.follow());
    this.listen();
  }

  button(text, label, click) {
    const name = `${text}: ${label}`; // what is read aloud holds what is seen
    return make("button", { type: "button", text, title: label, "aria-label": name, on: { click } });
  }

  toggle(name, label) {
    const click = () => {
      this.local[name] = !this.local[name];
      this.showButtons();
      this.draw();
    };
    return this.button(name, label, click);
  }

  showButtons() {
    for (const [name, button] of Object.entries(this.buttons))
      button.setAttribute("aria-pressed", String(this.local[name]));
    this.buttons.atoms.hidden = !this.frame?.atoms.length;
    this.buttons.anchors.hidden = !this.frame?.anchors.length;
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.onPress(event));
    canvas.addEventListener("pointermove", (event) => this.onPointer(event));
    canvas.addEventListener("pointerup", (event) => this.onRelease(event));
    canvas.addEventListener("pointercancel", () => this.dropDrag());
    canvas.addEventListener("pointerleave", () => this.point(null, null));
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.resize = new ResizeObserver(() => this.onResize());
    this.resize.observe(canvas);
  }

  dispose() {
    this.resize.disconnect();
    this.selection.dispose();
    this.slices.dispose();
    leaveLasso();
  }

  // ---- data -------------------------------------------------------------------------------------

  show(data) {
    try {
      const frame = data === this.data ? this.frame : parseMap(data);
      this.data = data;
      if (frame.content !== this.frame?.content) this.load(frame);
      else this.retheme();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      const text = `The map cannot be drawn: ${error.message}. Reload the page; if that does not help, report it.`;
      this.frame = null;
      this.picked.replaceChildren(make("p", { class: "error", role: "alert", text }));
      this.root.dataset.ready = "error";
    }
  }

  // Other colours on the same points keep the camera and the lasso.
  load(frame) {
    const same = this.frame && samePlaces(this.frame, frame);
    this.frame = frame;
    this.builds += 1;
    this.hover = this.atom = null;
    this.paths = pathsOf(frame);
    const places = this.slices.take(frame, same);
    if (places) Object.assign(frame, { x: places.x, y: places.y });
    if (!same || places) this.grid = new PointGrid(frame.x, frame.y);
    if (!same) {
      this.camera = null;
      this.encircle(keptLasso(frame));
    } else if (this.chosen) tellLasso(frame, [...this.chosen]); // perhaps for another group
    this.order = drawingOrder(frame.colour, frame.value);
    this.canvas.setAttribute("aria-label", `Map of ${frame.n} points, coloured by ${frame.colour.label}. Arrow keys move along the selected rollout.`);
    this.readTheme();
    this.onResize();
    this.follow();
    this.showButtons();
    Object.assign(this.root.dataset, { builds: this.builds, content: frame.content, ready: "yes", anchors: frame.anchored.size });
    Object.assign(this.root.dataset, { slice: places ? this.slices.at : "", paths: frame.paths.length });
  }

  // A step of the points' way to another of their maps; pointing at them takes a rest.
  wander({ x, y }, isAtRest) {
    Object.assign(this.frame, { x, y });
    if (isAtRest) {
      this.grid = new PointGrid(x, y);
      this.root.dataset.slice = this.slices.at;
    }
    this.draw();
  }

  readTheme() {
    const style = getComputedStyle(this.root);
    const property = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
    const page = property("--st-background-color", "#ffffff");
    const dark = isDark(page);
    this.theme = {
      dark,
      page,
      ink: style.color,
      accent: property("--st-primary-color", "#2f5fb3"),
      right: "#3b82c4",
      wrong: "#dd7a2b",
      font: style.fontFamily,
    };
    this.colours = pointColours(this.frame.colour, dark);
    this.legend.replaceChildren(legendOf(this.frame, this.colours), atomLegend(this.frame, this.theme), anchorLegend(this.frame), pathLegend(this.frame));
    this.most = undefined; // the density's legend has another ink
    this.root.dataset.theme = dark ? "dark" : "light";
  }

  retheme() {
    if (!this.frame) return;
    const before = JSON.stringify(this.theme);
    this.readTheme();
    if (JSON.stringify(this.theme) !== before) this.draw();
  }

  // ---- drawing ----------------------------------------------------------------------------------

  onResize() {
    const { clientWidth } = this.canvas;
    if (!this.frame || !clientWidth) return;
    this.width = clientWidth;
    this.fit = fittedCamera(this.slices.extent ?? this.grid.extent, this.width, HEIGHT);
    this.camera ??= this.fit;
    this.draw();
  }

  refit() {
    if (!this.frame) return;
    this.camera = this.fit;
    this.draw();
  }

  zoom(factor, x = this.width / 2, y = HEIGHT / 2) {
    if (!this.frame) return;
    this.camera = zoomedCamera(this.camera, x, y, factor, this.fit, this.width, HEIGHT);
    this.draw();
  }

  draw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      if (this.frame && this.camera) this.paint();
    });
  }

  paint() {
    const { canvas, frame, width, local } = this;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(HEIGHT * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const { sample } = this.selection.now;
    const density = local.density ? densityOf(this.scene()) : null;
    if (density?.most !== this.most) this.crowd.replaceChildren(...densityLegend(density, this.theme));
    this.most = density?.most;
    paintMap(pen, {
      ...this.scene(),
      ratio,
      path: local.path ? pathOf(frame, sample) : [],
      ways: waysOf(frame, this.paths, this.lit, this.theme.ink),
      lasso: this.lasso,
      density,
      withAtoms: local.atoms,
      withAnchors: local.anchors,
      layer: this.layer,
    });
    if (this.paintedBuild !== this.builds) performance.mark("hem:painted");
    this.paintedBuild = this.builds;
  }

  scene() {
    const { frame, camera, fit, width, theme, colours, order, lit, hover, atom, chosen } = this;
    return { frame, camera, fit, width, height: HEIGHT, theme, colours, order, lit, hover, atom, chosen };
  }

  // ---- moves ------------------------------------------------------------------------------------

  follow() {
    if (!this.frame) return;
    const { sample, token } = this.selection.now;
    this.lit = pointOf(this.frame, sample ?? null, token ?? null);
    const dim = (text) => make("div", { class: "dim", text });
    if (this.lit !== null)
      this.picked.replaceChildren(textOf(this.frame, this.lit, 24), dim(placeOf(this.frame, this.lit)));
    else if (Number.isInteger(token) && Number.isInteger(sample))
      this.picked.replaceChildren(
        dim(`Token ${token} of rollout ${sample} is not among the points shown.`),
      );
    else
      this.picked.replaceChildren(
        dim("Click a point to see it in its text, with ctrl for the path of its rollout. Drag to move, ctrl + wheel to zoom, shift + drag to draw around several."),
      );
    Object.assign(this.root.dataset, {
      sample: sample ?? "",
      token: token ?? "",
      lit: this.lit ?? "",
    });
    this.draw();
  }

  pick(point) {
    const { sample, here } = this.frame.rollouts[this.frame.row[point]];
    if (!here) return this.host.setTriggerValue("visit", { name: this.frame.name, point });
    this.selection.move(sample, this.lit === point ? null : this.frame.token[point]);
    this.follow();
  }

  // The way of the point's rollout, or not any more: Python keeps which are drawn.
  askPath(point) {
    const { sample, here } = this.frame.rollouts[this.frame.row[point]];
    if (here) this.host.setTriggerValue("path", { name: this.frame.name, sample });
  }

  pixelOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  targetAt([x, y]) {
    const atom = this.local.atoms
      ? this.frame.atoms.findIndex((found) => {
          const [ax, ay] = toScreen(this.camera, found.x, found.y, this.width, HEIGHT);
          return Math.abs(ax - x) + Math.abs(ay - y) < 8;
        })
      : -1;
    if (atom >= 0) return { point: null, atom };
    const reach = (REACH + radiusOf(this.scene())) / this.camera.per;
    const point = this.grid.nearest(...toMap(this.camera, x, y, this.width, HEIGHT), reach);
    return { point, atom: null };
  }

  onPress(event) {
    if (event.button !== 0 || !this.frame) return;
    const at = this.pixelOf(event);
    const lasso = this.local.lasso || event.shiftKey;
    this.drag = { at, camera: this.camera, lasso, moved: false };
    if (lasso) this.lasso = [at];
    this.canvas.setPointerCapture(event.pointerId);
  }

  onPointer(event) {
    if (!this.frame || !this.camera) return;
    const at = this.pixelOf(event);
    const { drag } = this;
    if (!drag) {
      const { point, atom } = this.targetAt(at);
      this.point(point, atom, event);
      return;
    }
    const [dx, dy] = [at[0] - drag.at[0], at[1] - drag.at[1]];
    if (Math.hypot(dx, dy) > 3) drag.moved = true;
    if (!drag.moved) return;
    this.tip.hidden = true;
    if (drag.lasso) this.lasso.push(at);
    else this.camera = pannedCamera(drag.camera, dx, dy);
    this.draw();
  }

  onRelease(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag || !this.frame) return;
    if (drag.moved && drag.lasso) this.choose(this.insideLasso());
    else if (!drag.moved) {
      const { point } = this.targetAt(this.pixelOf(event));
      if (point !== null && (event.ctrlKey || event.metaKey)) this.askPath(point);
      else if (point !== null) this.pick(point);
      else if (this.chosen) this.choose([]);
    }
    this.lasso = [];
    this.draw();
  }

  /** The system took the pointer, as for a gesture: nothing is chosen. */
  dropDrag() {
    if (!this.drag) return;
    this.drag = null;
    this.lasso = [];
    this.draw();
  }

  insideLasso() {
    const found = [];
    for (let i = 0; i < this.frame.n; i++)
      if (isInside(this.lasso, ...this.root.pointPlace(i))) found.push(i);
    return found;
  }

  encircle(points) {
    this.chosen = points.length ? new Set(points) : null;
    this.root.dataset.chosen = points.length;
    tellLasso(this.frame, points);
  }

  choose(points) {
    this.encircle(points);
    this.host.setTriggerValue("lasso", { name: this.frame.name, points });
  }

  onWheel(event) {
    if (!this.frame || !(event.ctrlKey || event.metaKey)) return; // the page scrolls
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300), ...this.pixelOf(event));
  }

  onKey(event) {
    if (!this.frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      const path = pathOf(this.frame, this.selection.now.sample ?? this.frame.rollouts[0]?.sample);
      const next = path[Math.max(0, Math.min(path.length - 1, path.indexOf(this.lit) + step))];
      if (next !== undefined && next !== this.lit) this.pick(next);
    } else if (event.key === "+") this.zoom(1.6);
    else if (event.key === "-") this.zoom(1 / 1.6);
    else if (event.key === "0") this.refit();
    else if (event.key === "Escape" && this.chosen) this.choose([]);
    else return;
    this.draw();
    event.preventDefault();
    event.stopPropagation();
  }

  point(point, atom, event) {
    if (point === this.hover && atom === this.atom) return;
    this.hover = point;
    this.atom = atom;
    this.draw();
    this.tip.hidden = point === null && atom === null;
    if (this.tip.hidden) return;
    const lines = atom === null ? tipOf(this.frame, point) : atomTip(this.frame.atoms[atom]);
    this.tip.replaceChildren(...lines);
    const box = this.root.getBoundingClientRect();
    const { offsetWidth, offsetHeight } = this.tip;
    const left = Math.max(4, Math.min(event.clientX - box.left + 14, box.width - offsetWidth - 4));
    const below = event.clientY + 18 + offsetHeight < window.innerHeight;
    const top = event.clientY - box.top + (below ? 18 : -offsetHeight - 12);
    this.tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}

const maps = new WeakMap(); // mount point -> EmbeddingMap

export default function embeddingMap({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".hem");
  let map = maps.get(parentElement);
  if (map?.root !== root) {
    map?.dispose();
    map = new EmbeddingMap(root, { setTriggerValue });
    maps.set(parentElement, map);
  }
  map.host = { setTriggerValue };
  map.show(data);
  return () => {
    map.dispose();
    maps.delete(parentElement);
  };
}
