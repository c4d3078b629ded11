// Elements. Text goes in by textContent only: what a model wrote is never markup.

export function make(tag, { text, children, on, style, ...attributes } = {}) {
  const element = document.createElement(tag);
  // Not as an attribute, which a strict content security policy forbids.
  if (style) element.style.cssText = style;
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

// Choices of a select: [value, label] pairs, or {label, choices} for a group of them. Made anew only
// when they differ.
export function options(select, choices, chosen) {
  const text = JSON.stringify(choices);
  if (select.dataset.choices !== text) {
    select.dataset.choices = text;
    select.replaceChildren(...choices.map(makeChoice));
  }
  select.value = chosen;
}

function makeChoice(choice) {
  if (!Array.isArray(choice)) {
    return make("optgroup", { label: choice.label, children: choice.choices.map(makeChoice) });
  }
  const [value, text] = choice;
  return make("option", { value, text });
}
