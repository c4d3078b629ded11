// The points of a large map as one picture. What has not changed since the last drawing is not made
// anew: pointing at something costs no more on a large map than on a small one.

import { EDGE, FAINT, pixelOf } from "./colours.js";
import { splat } from "./splat.js";

export class PointLayer {
  paint(pen, scene, radius) {
    const { order, colours, chosen, camera, theme, ratio } = scene;
    const size = [Math.round(scene.width * ratio), Math.round(scene.height * ratio)];
    const isColoured = this.order === order && this.colours === colours && this.chosen === chosen;
    if (!isColoured) this.tint = tintsOf(scene);
    const isPlaced = this.camera === camera && this.x === scene.frame.x;
    if (!isColoured || !isPlaced || String(this.size) !== String(size))
      this.picture = picture(scene, this.tint, size, Math.max(1, Math.round(radius * ratio)));
    Object.assign(this, { order, colours, chosen, camera, theme, size, x: scene.frame.x });
    pen.drawImage(this.picture, 0, 0, scene.width, scene.height);
  }
}

// A pixel for each point, in the order of drawing.
export function tintsOf({ frame, order, colours, chosen }) {
  const known = [new Map(), new Map()]; // colour -> pixel, for the chosen and for the others
  return Uint32Array.from(order, (i) => {
    const isFaint = chosen !== null && !chosen.has(i);
    const pixels = known[Number(isFaint)];
    const css = colours.of(frame.value[i]);
    if (!pixels.has(css)) pixels.set(css, pixelOf(css, isFaint ? FAINT : 1));
    return pixels.get(css);
  });
}

function picture({ frame, order, camera, ratio, theme }, tint, [width, height], half) {
  const { n } = frame;
  const [x, y] = [new Int32Array(n), new Int32Array(n)];
  const per = camera.per * ratio;
  for (let k = 0; k < n; k++) {
    x[k] = Math.round(width / 2 + (frame.x[order[k]] - camera.x) * per);
    y[k] = Math.round(height / 2 - (frame.y[order[k]] - camera.y) * per);
  }
  const image = new ImageData(width, height);
  const edge = pixelOf(EDGE[theme.dark ? "dark" : "light"]);
  splat(new Uint32Array(image.data.buffer), width, height, { n, x, y, tint }, half, edge);
  // A canvas of its own: putImageData on the map would wipe out the page's colour.
  const made = new OffscreenCanvas(width, height);
  made.getContext("2d").putImageData(image, 0, 0);
  return made;
}
