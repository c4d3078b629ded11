// What was drawn around, told to the other views of the page: CustomEvent("hara:lasso", {detail:
// {tokens: [[sample, first token, past the last], ...]}}), empty for none. Of a map of several groups
// the selected one's are told, the others' texts are not on the page. All of it is kept in
// `window.haraLasso`, so that a map that is left and opened again shows what Python still lists.

export function tellLasso(frame, points) {
  const tokens = [];
  for (const i of points) {
    const { sample, here } = frame.rollouts[frame.row[i]];
    if (here) tokens.push([sample, frame.token[i], frame.token[i] + frame.span[i]]);
  }
  say({ name: frame.name, points, tokens });
}

// The points that were drawn around on this very map before; none on another one.
export function keptLasso(frame) {
  const { haraLasso } = window;
  return haraLasso?.name === frame.name ? haraLasso.points : [];
}

// The map leaves the page, and with it what other views show of its lasso.
export function leaveLasso() {
  if (window.haraLasso) say({ ...window.haraLasso, tokens: [] });
}

function say(lasso) {
  window.haraLasso = lasso;
  window.dispatchEvent(new CustomEvent("hara:lasso", { detail: { tokens: lasso.tokens } }));
}
