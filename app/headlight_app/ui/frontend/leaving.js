// Reports choices before the visitor uses anything else, so that leaving the page loses nothing.

import { listenTo } from "./dom/dom.js";

/**
 * A reporter of choices to Streamlit.
 * @typedef {object} Reports
 * @property {boolean} isPending whether something is still to be reported
 * @property {boolean} isHeard whether Streamlit has answered the last report
 * @property {() => void} flush report at once
 * @property {() => Promise<void>} heard resolves once Streamlit has answered the last report
 */

const PATIENCE = 3000; // milliseconds that a link waits for Streamlit to acknowledge the choices

/**
 * Reports at once if the visitor turns to something else: another part of the page, another tab, a link.
 * @param {Element} root of the component @param {Reports} reporter
 * @returns {() => void} ends it
 */
export function listenToLeaving(root, reporter) {
  /** @param {Event} event */
  const isOutside = (event) => !event.composedPath().includes(root);
  /** @param {Event} event */
  const turn = (event) => {
    if (isOutside(event)) reporter.flush();
  };
  const hide = () => reporter.flush();
  /** @param {MouseEvent} event */
  const follow = (event) => {
    const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement);
    if (!link || !isOutside(event) || event.metaKey || event.ctrlKey || !isLate(reporter)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    reporter.flush();
    // The link still contains an older state; the run that follows the report redraws it.
    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE));
    Promise.race([reporter.heard(), late]).then(() => link.click());
  };
  const endings = [
    listenTo(document, { pointerdown: turn, focusin: turn }, { capture: true }),
    listenTo(document, { click: follow }, { capture: true }),
    listenTo(document, { visibilitychange: hide }),
    listenTo(window, { pagehide: hide }),
  ];
  return () => {
    for (const end of endings) end();
  };
}

/** @param {Reports} reporter */
function isLate(reporter) {
  return reporter.isPending || !reporter.isHeard;
}
