// Carries what the card says from Python to the card of the page, one that is there or still to
// come; it draws nothing.

export default function carrier({ data }) {
  say(data ?? null);
  return () => say(null);
}

function say(card) {
  window.haraCard = card;
  window.dispatchEvent(new CustomEvent("hara:card"));
}
