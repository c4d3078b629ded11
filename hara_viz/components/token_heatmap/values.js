// Channels -> signals -> what is coloured: the terms of frame.py, evaluated; levels; domains; peaks.
// NaN means unknown throughout. Results are kept on the frame, which never changes.

let halfTable = null;

// All 65,536 half-precision numbers; a look-up is quicker than arithmetic for each value.
export function halfToFloat(bits) {
  if (halfTable === null) {
    halfTable = new Float32Array(65536);
    for (let i = 0; i < 65536; i++) halfTable[i] = decodeHalf(i);
  }
  return halfTable[bits];
}

function decodeHalf(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function kept(frame, key, make) {
  if (!frame.cache.has(key)) frame.cache.set(key, make());
  return frame.cache.get(key);
}

export function signalOf(frame, name) {
  return frame.signals.find((signal) => signal.name === name) ?? null;
}

// [N] values of a signal.
export function signalValues(frame, name) {
  return kept(frame, `signal ${name}`, () => {
    halfToFloat(0);
    const values = new Float32Array(frame.nTokens);
    for (const [coefficient, channel, byAdvantage] of signalOf(frame, name).terms) {
      const held = channel === null ? null : frame.channels.get(channel);
      for (const row of frame.rows) {
        const factor = coefficient * (byAdvantage ? (row.advantage ?? NaN) : 1);
        const last = row.token0 + row.tokens;
        if (held === null) addConstant(values, factor, row.token0, last);
        else addHalves(values, held.bits, factor * held.scale, row.token0, last);
      }
    }
    return values;
  });
}

// Loops of their own, without a branch inside: a quarter of a million tokens take a millisecond.
function addConstant(values, constant, from, to) {
  for (let t = from; t < to; t++) values[t] += constant;
}

function addHalves(values, bits, factor, from, to) {
  const table = halfTable;
  for (let t = from; t < to; t++) values[t] += factor * table[bits[t]];
}

// One value, without making all of them: for the tooltip.
export function valueAt(frame, name, row, token) {
  return signalOf(frame, name).terms.reduce((total, [coefficient, channel, byAdvantage]) => {
    const held = channel === null ? null : frame.channels.get(channel);
    const value = held === null ? 1 : halfToFloat(held.bits[token]) * held.scale;
    return total + coefficient * value * (byAdvantage ? (row.advantage ?? NaN) : 1);
  }, 0);
}

// [N] values at a level: each token gets the mean of its reasoning step or rollout.
export function levelValues(frame, name, level) {
  const values = signalValues(frame, name);
  if (level === "token") return values;
  return kept(frame, `${level} ${name}`, () => {
    const coarse = new Float32Array(values.length);
    for (const row of frame.rows) {
      const starts = level === "step" && row.steps.length ? Array.from(row.steps) : [0];
      starts.push(row.tokens);
      for (let i = 0; i + 1 < starts.length; i++) {
        const from = row.token0 + starts[i];
        const to = row.token0 + starts[i + 1];
        coarse.fill(mean(values, from, to), from, to);
      }
    }
    return coarse;
  });
}

export function mean(values, from, to) {
  let total = 0;
  let known = 0;
  for (let i = from; i < to; i++) {
    if (!Number.isNaN(values[i])) {
      total += values[i];
      known += 1;
    }
  }
  return known ? total / known : NaN;
}

// The reasoning step of a token within its row, from 0; null where steps were not cut.
export function stepOf(row, token) {
  if (!row.steps.length) return null;
  let low = 0;
  let high = row.steps.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (row.steps[middle] <= token) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Where the colours begin and end: 2-98 % quantiles of the group, zero-centred for signed signals.
export function autoDomain(frame, name, level) {
  return kept(frame, `domain ${level} ${name}`, () => {
    const shared = frame.domains?.[level]?.[name];
    if (shared) return widened(...shared, signalOf(frame, name).signed);
    const [low, high] = quantiles(levelValues(frame, name, level), [0.02, 0.98]);
    if (Number.isNaN(low)) return signalOf(frame, name).signed ? [-1, 1] : [0, 1];
    if (!signalOf(frame, name).signed) return widened(low, high, false);
    // A group where one outcome prevails must not lose the other's side: same reach on both.
    const reach = Math.max(Math.abs(low), Math.abs(high));
    return widened(-reach, reach, true);
  });
}

// Where all values are equal, none stands out: they get the pale end, or the middle of a signed scale.
function widened(low, high, signed) {
  if (high - low > 1e-12 * Math.max(1, Math.abs(low), Math.abs(high))) return [low, high];
  const half = Math.max(Math.abs(high) / 2, 1e-6);
  return [signed ? low - half : low, high + half];
}

// Quantiles of the finite values, linear between the two nearest as numpy has them; NaN of none.
// Exact, but without a sort: values are counted by their upper 16 bits, and only the few that share
// them with the value looked for are put in order.
export function quantiles(values, shares) {
  const floats = Float32Array.from(values);
  const bits = new Uint32Array(floats.buffer);
  const counts = new Uint32Array(65536);
  let total = 0;
  for (let i = 0; i < bits.length; i++) {
    if ((bits[i] & 0x7f800000) === 0x7f800000) continue; // NaN, infinite
    counts[upperBits(bits[i])] += 1;
    total += 1;
  }
  const buckets = new Map();
  const nth = (n) => {
    let bucket = 0;
    let before = 0;
    while (before + counts[bucket] <= n) before += counts[bucket++];
    if (!buckets.has(bucket)) buckets.set(bucket, bucketOf(floats, bits, bucket));
    return buckets.get(bucket)[n - before];
  };
  return shares.map((share) => {
    if (!total) return NaN;
    const at = share * (total - 1);
    const below = Math.floor(at);
    const low = nth(below);
    return at === below ? low : low + (at - below) * (nth(below + 1) - low);
  });
}

// Rises with the value: of a negative number all bits are turned, of others the sign alone.
function upperBits(bits) {
  return (bits & 0x80000000 ? ~bits : bits | 0x80000000) >>> 16;
}

function bucketOf(floats, bits, bucket) {
  const isIn = (i) => upperBits(bits[i]) === bucket && Number.isFinite(floats[i]);
  const found = [];
  for (let i = 0; i < bits.length; i++) if (isIn(i)) found.push(floats[i]);
  return Float32Array.from(found).sort();
}

// The value a cell is coloured by: of the tokens that share it, the one farthest from zero.
export function cellValue(frame, values, cell) {
  let chosen = values[frame.firstToken[cell]];
  for (let t = frame.firstToken[cell] + 1; t < frame.firstToken[cell + 1]; t++) {
    if (Number.isNaN(chosen) || Math.abs(values[t]) > Math.abs(chosen)) chosen = values[t];
  }
  return chosen;
}

// Tokens of a row (from 0) that stand out: local maxima of the size among the top tenth.
export function peaksOf(row, values) {
  const sizes = values.slice(row.token0, row.token0 + row.tokens).map(Math.abs);
  const [floor] = quantiles(sizes, [0.9]);
  const peaks = [];
  for (let t = 0; t < sizes.length; t++) {
    const before = t > 0 ? sizes[t - 1] : -Infinity;
    const after = t + 1 < sizes.length ? sizes[t + 1] : -Infinity;
    if (sizes[t] >= floor && sizes[t] > (before || 0) && !(sizes[t] < after)) peaks.push(t);
  }
  return peaks;
}

// First token (from 0) of the window of `width` tokens where the size rises farthest above the mean.
export function bestWindow(row, values, width) {
  let total = 0;
  let best = 0;
  let bestTotal = -Infinity;
  const size = (t) =>
    t >= 0 && Number.isFinite(values[row.token0 + t]) ? Math.abs(values[row.token0 + t]) : 0;
  for (let t = 0; t < row.tokens; t++) {
    total += size(t) - (t >= width ? size(t - width) : 0);
    if (t >= Math.min(width, row.tokens) - 1 && total > bestTotal + 1e-9) {
      bestTotal = total;
      best = Math.max(0, t - width + 1);
    }
  }
  return best;
}

// Short and honest: three significant digits, a real minus, a plus where the sign matters.
export function formatted(value, signed = false) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  let text = "0";
  if (size >= 1e4 || (size > 0 && size < 1e-4)) text = size.toExponential(2);
  else if (size > 0) text = String(Number(size.toPrecision(3)));
  const sign = value < 0 ? "−" : signed && value > 0 ? "+" : "";
  return sign + text;
}
