// Shows titles on touch screens, which cannot hover: press and hold a control, or tap on anything else.

import { createElement, listenTo } from "./dom/dom.ts";

const HOLD = 450; // milliseconds
const DRIFT = 10; // pixels that a holding finger may move
const CONTROLS = "button, a, select, input, textarea, summary, label, [role=button]";

/** @param place whose titles are shown @returns ends it */
export function listenToTouch(place: HTMLElement): () => void {
  let hint: HTMLElement | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let from = { x: 0, y: 0 };
  const release = () => clearTimeout(timer);
  const hide = () => {
    release();
    if (hint) hint.hidden = true;
  };
  const press = (event: PointerEvent) => {
    hide();
    const titled = titledElement(event);
    if (event.pointerType !== "touch" || !titled) return;
    from = { x: event.clientX, y: event.clientY };
    const tell = () => {
      hint ??= createHint(place);
      show(hint, titled.title, from);
    };
    timer = setTimeout(tell, titled.closest(CONTROLS) ? HOLD : 0);
  };
  const move = (event: PointerEvent) => {
    if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > DRIFT) hide();
  };
  const end = listenTo(place, { pointerdown: press, pointermove: move, pointerup: release, pointercancel: hide });
  return () => {
    end();
    release();
    hint?.remove();
  };
}

function createHint(place: HTMLElement) {
  const hint = createElement("div", "touch-hint", [], { role: "tooltip", testid: "touch-hint" });
  place.append(hint);
  return hint;
}

function titledElement(event: Event) {
  const [target] = event.composedPath();
  const titled = target instanceof Element ? target.closest("[title]") : null;
  return titled instanceof HTMLElement && titled.title ? titled : null;
}

/** @param from the finger */
function show(hint: HTMLElement, text: string, from: { x: number; y: number }) {
  hint.textContent = text;
  hint.hidden = false;
  const { width, height } = hint.getBoundingClientRect();
  const edge = 8;
  const left = Math.min(Math.max(from.x - width / 2, edge), innerWidth - width - edge);
  const above = from.y - height - 24;
  hint.style.left = `${left}px`;
  hint.style.top = `${above < edge ? from.y + 24 : above}px`;
}
