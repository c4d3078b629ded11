// One entry of the history for a page that is turned. Streamlit makes two: the bare page, then the
// selection that Python adds to its address. Going back would end on the bare one, where nothing is
// selected, and it would take two steps to leave a page.

// From now on, an entry that only completes a bare address replaces it. Gives the way back.
export function joinEntries(history, location) {
  const push = history.pushState;
  history.pushState = function (state, title, url) {
    const next = new URL(url ?? location.href, location.href);
    const completes =
      location.search === "" && next.search !== "" && next.pathname === location.pathname;
    return (completes ? history.replaceState : push).call(history, state, title, url);
  };
  return () => {
    history.pushState = push;
  };
}
