// Bytes of one further signal -> a channel more in the frame that they fit (signal_frame.py).

import { BlockReader, demand, guarded, isCount, openEnvelope } from "../shared/envelope.js";
import { channelsOf } from "./frame.js";

export function parseSignal(bytes) {
  const { header, body } = openEnvelope(bytes, "HARASIGN", 1);
  return guarded(() => {
    const { base, signal, channel, tokens, scale } = header;
    for (const name of [base, signal, channel]) demand(typeof name === "string", "it has no name");
    demand(isCount(tokens), "it has no length");
    demand(scale > 0 && Number.isFinite(scale), "it has no scale");
    const blocks = new BlockReader(body);
    const bits = blocks.take(Uint16Array, tokens);
    blocks.end();
    return { base, signal, channel, tokens, bits, scale };
  });
}

// Adds the channel, if it belongs to this very frame: the signals that it completes are no longer
// on offer but there. Tells whether anything was added.
export function addSignal(frame, { base, channel, tokens, bits, scale }) {
  if (base !== frame.content || tokens !== frame.nTokens || frame.channels.has(channel))
    return false;
  frame.channels.set(channel, { bits, scale });
  const isComplete = (signal) => channelsOf(signal).every((name) => frame.channels.has(name));
  frame.signals = [...frame.signals, ...frame.offers.filter(isComplete)];
  frame.offers = frame.offers.filter((signal) => !isComplete(signal));
  return true;
}
