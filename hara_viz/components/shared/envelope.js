// Bytes -> header and aligned body; the layout is described in envelope.py. A damaged frame must end
// in a sentence, not in a blank page, so every claim is checked here too.

export class FrameError extends Error {}

export function demand(holds, why) {
  if (!holds) throw new FrameError(why);
}

export function isCount(value) {
  return Number.isInteger(value) && value >= 0;
}

export function padded(length) {
  return Math.ceil(length / 4) * 4;
}

// Runs a reader; whatever stumbles over a damaged header becomes a FrameError.
export function guarded(read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof FrameError) throw error;
    throw new FrameError(`its header is damaged (${error.message})`);
  }
}

// The body is copied to a buffer of its own, since typed arrays need aligned offsets.
export function openEnvelope(bytes, magic, version) {
  demand(bytes instanceof Uint8Array && bytes.length >= 16, "it is too short");
  demand(
    String.fromCharCode(...bytes.subarray(0, 8)) === magic,
    `it does not begin with ${magic}`,
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = view.getUint32(8, true);
  demand(found === version, `it has version ${found}; this page reads ${version}`);
  const length = view.getUint32(12, true);
  demand(16 + padded(length) <= bytes.length, "it ends within its header");
  let header = null;
  try {
    header = JSON.parse(new TextDecoder("utf-8").decode(bytes.subarray(16, 16 + length)));
  } catch {
    throw new FrameError("its header is not JSON");
  }
  demand(header !== null && typeof header === "object", "its header is not an object");
  return { header, body: bytes.slice(16 + padded(length)) };
}

// Takes typed arrays off the body, one block after the other.
export class BlockReader {
  constructor(body) {
    this.body = body;
    this.at = 0;
  }

  take(Type, count) {
    const bytes = padded(count * Type.BYTES_PER_ELEMENT);
    demand(
      isCount(count) && this.at + bytes <= this.body.length,
      "it ends within its numbers",
    );
    const block = new Type(this.body.buffer, this.at, count);
    this.at += bytes;
    return block;
  }

  end() {
    demand(this.at === this.body.length, "it has more bytes than its header says");
  }
}
