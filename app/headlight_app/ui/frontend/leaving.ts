// Reports choices before the visitor uses anything else, so that leaving the page loses nothing.

import { listenTo } from "./dom/dom.ts";

/** A reporter of choices to Streamlit. */
interface Reports {
  isPending: boolean; // whether something is still to be reported
  isHeard: boolean; // whether Streamlit has answered the last report
  flush: () => void; // report at once
  heard: () => Promise<void>; // resolves once Streamlit has answered the last report
}

const PATIENCE = 3000; // milliseconds that a link waits for Streamlit to acknowledge the choices

/**
 * Reports at once if the visitor turns to something else: another part of the page, another tab, a link.
 * @param root of the component @returns ends it
 */
export function listenToLeaving(root: Element, reporter: Reports): () => void {
  const isOutside = (event: Event) => !event.composedPath().includes(root);
  const follow = (event: MouseEvent) => {
    const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement);
    if (!link || !isOutside(event) || event.metaKey || event.ctrlKey || !isLate(reporter)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    reporter.flush();
    // The link still contains an older state; the run that follows the report redraws it.
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE));
    Promise.race([reporter.heard(), late]).then(() => link.click());
  };
  const endings = [listenToTurning(root, reporter), listenTo(document, { click: follow }, { capture: true })];
  return () => {
    for (const end of endings) end();
  };
}

/** The same without links that wait until the choices are heard. */
export function listenToTurning(root: Element, reporter: Pick<Reports, "flush">): () => void {
  const turn = (event: Event) => {
    if (!event.composedPath().includes(root)) reporter.flush();
  };
  const hide = () => reporter.flush();
  const endings = [
    listenTo(document, { pointerdown: turn, focusin: turn }, { capture: true }),
    listenTo(document, { visibilitychange: hide }),
    listenTo(window, { pagehide: hide }),
  ];
  return () => {
    for (const end of endings) end();
  };
}

function isLate(reporter: Reports) {
  return reporter.isPending || !reporter.isHeard;
}
