// Whether somebody is writing, so that nothing takes the page away from them.

const WRITTEN = `textarea, [contenteditable], input:not(${[
  "checkbox",
  "radio",
  "range",
  "button",
  "submit",
  "color",
  "file",
]
  .map((type) => `[type="${type}"]`)
  .join()})`;

/** Whether a text field that is not empty has the focus, also one in a component or in a view of this server. */
export function isWriting(page: Document): boolean {
  let active = page.activeElement;
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
  if (active instanceof HTMLIFrameElement) return Boolean(active.contentDocument && isWriting(active.contentDocument));
  if (!active?.matches(WRITTEN)) return false;
  return Boolean("value" in active ? active.value : active.textContent);
}
