// Elements. Text goes in by textContent only: what a model wrote is never markup.

export function make(tag, { text, children, on, ...attributes } = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : value);
  }
  if (text !== undefined) element.textContent = text;
  for (const child of children ?? []) if (child) element.append(child);
  for (const [event, listener] of Object.entries(on ?? {}))
    element.addEventListener(event, listener);
  return element;
}

export function options(select, choices, chosen) {
  select.replaceChildren(
    ...choices.map(([value, label]) =>
      make("option", { value, text: label, selected: value === chosen }),
    ),
  );
  select.value = chosen;
}
