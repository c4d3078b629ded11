// Drawing of the map. Text reaches the canvas by fillText alone.

import { visible } from "../shared/cells.js";
import { paintAnchors } from "./anchors.js";
import { EDGE, FAINT } from "./colours.js";
import { paintDensity } from "./density.js";
import { paintPaths } from "./paths.js";
import { toScreen } from "./space.js";

const MANY = 8000; // points; beyond, squares are written as pixels, which is quicker than discs

// `scene`: {frame, camera, width, height, ratio, theme, colours, order, lit, hover, chosen, path,
//           ways: of waysOf,
//           density: of densityOf or null, lasso, withAtoms, withAnchors, layer: a PointLayer}
export function paintMap(pen, scene) {
  const { width, height, theme } = scene;
  pen.fillStyle = theme.page;
  pen.fillRect(0, 0, width, height);
  if (scene.density) paintDensity(pen, scene.density, theme.ink);
  paintPoints(pen, scene);
  if (scene.path.length > 1) paintPath(pen, scene);
  paintPaths(pen, scene);
  if (scene.withAtoms) paintAtoms(pen, scene);
  if (scene.withAnchors) paintAnchors(pen, scene);
  for (const [point, size] of [
    [scene.hover, 6],
    [scene.lit, 8],
  ]) {
    if (point !== null) ring(pen, scene, point, size);
  }
  if (scene.lasso.length > 1) paintLasso(pen, scene);
}

function place({ frame, camera, width, height }, i) {
  return toScreen(camera, frame.x[i], frame.y[i], width, height);
}

export function radiusOf({ frame, camera, fit }) {
  const base = Math.max(1.2, Math.min(4, 90 / Math.sqrt(frame.n)));
  return Math.min(7, base * (camera.per / fit.per) ** 0.25);
}

function paintPoints(pen, scene) {
  if (scene.frame.n > MANY) return scene.layer.paint(pen, scene, radiusOf(scene));
  const { frame, order, colours, chosen, width, height, theme } = scene;
  const radius = radiusOf(scene);
  pen.lineWidth = 1;
  pen.strokeStyle = EDGE[theme.dark ? "dark" : "light"];
  for (const i of order) {
    const [x, y] = place(scene, i);
    if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
    pen.globalAlpha = chosen && !chosen.has(i) ? FAINT : 1;
    pen.fillStyle = colours.of(frame.value[i]);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

function paintPath(pen, scene) {
  pen.strokeStyle = scene.theme.ink;
  pen.globalAlpha = 0.45;
  pen.lineWidth = 1.2;
  pen.beginPath();
  scene.path.forEach((i, at) => {
    const [x, y] = place(scene, i);
    if (at) pen.lineTo(x, y);
    else pen.moveTo(x, y);
  });
  pen.stroke();
  pen.globalAlpha = 1;
}

function paintAtoms(pen, { frame, camera, width, height, theme, atom }) {
  pen.font = `12px ${theme.font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  frame.atoms.forEach((found, a) => {
    const [x, y] = toScreen(camera, found.x, found.y, width, height);
    const size = atom === a ? 9 : 7;
    pen.beginPath();
    pen.moveTo(x, y - size);
    pen.lineTo(x + size, y);
    pen.lineTo(x, y + size);
    pen.lineTo(x - size, y);
    pen.closePath();
    pen.fillStyle = found.success ? theme.right : theme.wrong;
    pen.fill();
    pen.lineWidth = 2;
    pen.strokeStyle = theme.ink;
    pen.stroke();
    if (atom !== a) return;
    const text = visible(found.text).slice(0, 60);
    pen.lineWidth = 4;
    pen.strokeStyle = theme.page;
    pen.strokeText(text, x + 13, y);
    pen.fillStyle = theme.ink;
    pen.fillText(text, x + 13, y);
  });
}

function ring(pen, scene, point, size) {
  const [x, y] = place(scene, point);
  pen.beginPath();
  pen.arc(x, y, size, 0, 2 * Math.PI);
  pen.lineWidth = 4;
  pen.strokeStyle = scene.theme.page;
  pen.stroke();
  pen.lineWidth = 2;
  pen.strokeStyle = scene.theme.accent;
  pen.stroke();
}

function paintLasso(pen, { lasso, theme }) {
  pen.beginPath();
  lasso.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
  pen.globalAlpha = 0.1;
  pen.fillStyle = theme.accent;
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 4]);
  pen.strokeStyle = theme.accent;
  pen.stroke();
  pen.setLineDash([]);
}
