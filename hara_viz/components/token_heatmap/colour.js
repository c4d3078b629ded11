// Values -> colours. The scales keep their order in lightness, so that they survive colour blindness
// and print; they end where text on them is still easy to read. Blue and orange carry the sign.

const STEPS = 256;
const PALETTES = {
  light: {
    sequential: ["#ffffff00", "#fdf0c2", "#fbd189", "#f5a968", "#ea8067"],
    diverging: ["#6ba3dc", "#a5c8ec", "#dbe8f7", "#ffffff00", "#fbe3c8", "#f6bd85", "#ec9450"],
    sequentialLine: ["#0f766e00", "#7fc4bb", "#2a9187", "#0b5d56"],
    divergingLine: ["#1d5fae", "#6ba3dc", "#8a8f9800", "#ec9450", "#b65a0c"],
  },
  dark: {
    sequential: ["#12151b00", "#3a2a33", "#63353d", "#853c3c", "#a04a32"],
    diverging: ["#2f69a6", "#284f78", "#1f354e", "#12151b00", "#453122", "#6d4520", "#92541a"],
    sequentialLine: ["#5eead400", "#2f7f77", "#3fb3a6", "#6ff0e0"],
    divergingLine: ["#7cb4f2", "#3a76b8", "#8a8f9800", "#b0671f", "#ffb066"],
  },
};

// {of(value): css colour or null for unknown, css: [256], pixels: [256]} over [low, high]. Pixels
// are the same colours as an ImageData holds them; `index` gives their place.
export function colourScale(domain, signed, dark, line = false) {
  const theme = dark ? PALETTES.dark : PALETTES.light;
  const { css, pixels } = ramp(theme[(signed ? "diverging" : "sequential") + (line ? "Line" : "")]);
  const index = (value) => position(value, domain, signed);
  return {
    css,
    pixels,
    signed,
    domain,
    index,
    of: (value) => (Number.isNaN(value) ? null : css[index(value)]),
  };
}

// 0 … 255; values outside the domain take its ends. Zero is the middle of a signed scale even if
// a reader's bounds are lopsided.
function position(value, [low, high], signed) {
  let share;
  if (!signed || low >= 0 || high <= 0) share = (value - low) / (high - low);
  else share = value < 0 ? 0.5 - 0.5 * (value / low) : 0.5 + 0.5 * (value / high);
  return Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS - 1))));
}

const ramps = new Map(); // stops -> ramp

function ramp(stops) {
  if (!ramps.has(stops)) ramps.set(stops, makeRamp(stops));
  return ramps.get(stops);
}

function makeRamp(stops) {
  const colours = stops.map(parseColour);
  const mixed = Array.from({ length: STEPS }, (_, i) => {
    const at = (i / (STEPS - 1)) * (colours.length - 1);
    const below = Math.min(Math.floor(at), colours.length - 2);
    return mix(colours[below], colours[below + 1], at - below);
  });
  const bytes = Uint8ClampedArray.from(
    mixed.flatMap(([red, green, blue, alpha]) => [red, green, blue, 255 * alpha]),
  );
  return {
    css: mixed.map(
      (colour) => `rgba(${colour.slice(0, 3).map(Math.round).join(",")},${colour[3].toFixed(3)})`,
    ),
    pixels: new Uint32Array(bytes.buffer),
  };
}

// Premultiplied by opacity: a see-through stop lends no colour of its own.
function mix(a, b, share) {
  const alpha = a[3] + (b[3] - a[3]) * share;
  if (alpha === 0) return [0, 0, 0, 0];
  const channel = (i) => (a[i] * a[3] * (1 - share) + b[i] * b[3] * share) / alpha;
  return [channel(0), channel(1), channel(2), alpha];
}

function parseColour(hex) {
  const part = (i) => parseInt(hex.slice(i, i + 2), 16);
  return [part(1), part(3), part(5), hex.length > 7 ? part(7) / 255 : 1];
}

// Is a page with this background (any css rgb(), or #hex) a dark one?
export function isDark(background) {
  const numbers = background.startsWith("#")
    ? parseColour(
        background.length === 4
          ? `#${[...background.slice(1)].map((d) => d + d).join("")}`
          : background,
      )
    : (background.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  const [red, green, blue] = numbers;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}
