// Geometry of the map. A camera {x, y, per} puts the point (x, y) of the map in the middle of the
// canvas and draws one unit of the map as `per` pixels; y goes up. Pure; cameras are never changed.

export const MARGIN = 26; // pixels kept free around a map that is fitted
const MOST = 400; // times closer than fitted

export function extentOf(xs, ys) {
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < xs.length; i++) {
    if (!Number.isFinite(xs[i]) || !Number.isFinite(ys[i])) continue;
    left = Math.min(left, xs[i]);
    right = Math.max(right, xs[i]);
    low = Math.min(low, ys[i]);
    high = Math.max(high, ys[i]);
  }
  return left > right ? { left: 0, right: 1, low: 0, high: 1 } : { left, right, low, high };
}

// The same scale on both axes: distances are what a map is about.
export function fittedCamera({ left, right, low, high }, width, height) {
  const room = (pixels, units) => Math.max(1, pixels - 2 * MARGIN) / Math.max(units, 1e-9);
  const per = Math.min(room(width, right - left), room(height, high - low));
  return { x: (left + right) / 2, y: (low + high) / 2, per: Math.min(per, 1e9) };
}

export function toScreen(camera, x, y, width, height) {
  return [width / 2 + (x - camera.x) * camera.per, height / 2 - (y - camera.y) * camera.per];
}

export function toMap(camera, px, py, width, height) {
  return [camera.x + (px - width / 2) / camera.per, camera.y - (py - height / 2) / camera.per];
}

// What is under the pixel stays under it.
export function zoomedCamera(camera, px, py, factor, fit, width, height) {
  const [x, y] = toMap(camera, px, py, width, height);
  const per = Math.min(Math.max(camera.per * factor, fit.per / 2), fit.per * MOST);
  return { x: x - (px - width / 2) / per, y: y + (py - height / 2) / per, per };
}

export function pannedCamera(camera, dx, dy) {
  return { ...camera, x: camera.x - dx / camera.per, y: camera.y + dy / camera.per };
}

// Even-odd rule; the corners are [[x, y], …].
export function isInside(corners, x, y) {
  let inside = false;
  for (let i = 0, j = corners.length - 1; i < corners.length; j = i++) {
    const [ax, ay] = corners[i];
    const [bx, by] = corners[j];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

// A grid over the map: the nearest point without looking at all of them.
export class PointGrid {
  constructor(xs, ys) {
    this.xs = xs;
    this.ys = ys;
    this.extent = extentOf(xs, ys);
    const { left, right, low, high } = this.extent;
    this.side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(xs.length / 4))));
    this.cell = Math.max((right - left) / this.side, (high - low) / this.side, 1e-12);
    const count = new Uint32Array(this.side * this.side + 1);
    const home = new Uint32Array(xs.length);
    for (let i = 0; i < xs.length; i++) {
      home[i] = this.homeOf(xs[i], ys[i]);
      count[home[i] + 1] += 1;
    }
    for (let c = 0; c < count.length - 1; c++) count[c + 1] += count[c];
    this.starts = count.slice();
    this.order = new Uint32Array(xs.length);
    for (let i = 0; i < xs.length; i++) this.order[count[home[i]]++] = i;
  }

  column(value, from) {
    const at = Math.floor((value - from) / this.cell);
    return Math.max(0, Math.min(this.side - 1, Number.isFinite(at) ? at : 0));
  }

  homeOf(x, y) {
    return this.column(y, this.extent.low) * this.side + this.column(x, this.extent.left);
  }

  // Index of the nearest point within `reach` units, or null.
  nearest(x, y, reach) {
    let best = null;
    let least = reach * reach;
    const { left, low } = this.extent;
    for (let row = this.column(y - reach, low); row <= this.column(y + reach, low); row++)
      for (let col = this.column(x - reach, left); col <= this.column(x + reach, left); col++) {
        const home = row * this.side + col;
        for (let k = this.starts[home]; k < this.starts[home + 1]; k++) {
          const i = this.order[k];
          const gap = (this.xs[i] - x) ** 2 + (this.ys[i] - y) ** 2;
          if (gap <= least) [best, least] = [i, gap];
        }
      }
    return best;
  }
}
