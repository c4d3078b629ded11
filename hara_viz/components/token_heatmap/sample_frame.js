// A small frame for the tests of this folder, written by hand as frame.py describes it.

export function bytesOf({
  rows,
  kinds,
  cells,
  channels = [],
  signals = [],
  offers = [],
  version = 2,
  magic = "HARAHEAT",
}) {
  return enveloped(
    magic,
    version,
    {
      content: "0",
      kinds,
      signals,
      offers,
      rows,
      channels: channels.map(({ name, scale = 1 }) => ({ name, scale })),
    },
    [cells, ...channels.map(({ bits }) => bits)],
  );
}

// A further signal that fits the frame of `sample()`.
export function signalBytes({
  magic = "HARASIGN",
  version = 1,
  bits = Array(8).fill(ONE),
  ...header
} = {}) {
  const own = { base: "0", signal: "shear", channel: "shear", tokens: bits.length, scale: 2 };
  return enveloped(magic, version, { ...own, ...header }, [bits]);
}

function enveloped(magic, version, header, numbers) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const head = new Uint8Array(16);
  head.set(new TextEncoder().encode(magic));
  new DataView(head.buffer).setUint32(8, version, true);
  new DataView(head.buffer).setUint32(12, text.length, true);
  const blocks = numbers.map((block) => new Uint8Array(Uint16Array.from(block).buffer));
  const parts = [head, padded(text), ...blocks.map(padded)];
  const bytes = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function padded(block) {
  const out = new Uint8Array(Math.ceil(block.length / 4) * 4);
  out.set(block);
  return out;
}

export const ONE = 0x3c00; // 1.0 in half precision
export const NAN = 0x7e00;

// Two rollouts: "Hello wörld\n\n" + end, and "a b". The third cell is three tokens in one.
export function sample(changes = {}) {
  return {
    kinds: [
      ["Hello", [10], 0],
      [" w", [11], 0],
      ["örld", [12, 13, 14], 0],
      ["\n\n", [15], 0],
      ["<|e|>", [1], 1],
      ["a b", [16], 0],
    ],
    cells: [0, 1, 2, 3, 4, 5],
    rows: [
      {
        sample: 0,
        cells: 5,
        tokens: 7,
        reward: 1,
        success: true,
        advantage: 2,
        finish: "stop",
        reason: "match",
        extracted: "x",
        answer: [1, 3],
        think: [[0, 1]],
        gaps: [2, 3],
      },
      {
        sample: 4,
        cells: 1,
        tokens: 1,
        reward: null,
        success: null,
        advantage: null,
        finish: "length",
        reason: "",
        extracted: null,
        answer: null,
        think: [],
        gaps: null,
      },
    ],
    channels: [
      { name: "weight", scale: 2, bits: [ONE, 0x3800, 0x3400, 0xbc00, NAN, 0, ONE, ONE] },
      { name: "entropy", scale: 1, bits: [0, ONE, ONE, ONE, NAN, 0, 0, ONE] },
    ],
    signals: [
      {
        name: "weight",
        label: "Weight − 1",
        meaning: "",
        signed: true,
        terms: [
          [1, "weight", false],
          [-1, null, false],
        ],
      },
      {
        name: "advantage",
        label: "Advantage",
        meaning: "",
        signed: true,
        terms: [[1, "weight", true]],
      },
      {
        name: "entropy",
        label: "Entropy",
        meaning: "",
        signed: false,
        terms: [[1, "entropy", false]],
      },
    ],
    ...changes,
  };
}
