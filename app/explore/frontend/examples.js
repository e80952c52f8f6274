// Sentences to begin with, and what there is to see in them.

import { createElement, updateChildren } from "../../../model/rendering/static/ui/dom.js";
import { fitHeights } from "../../ui/frontend/text_box.js";

/** @import { ExplorePage } from "./types.js" */

/** @param {ExplorePage} page */
export function drawExamples(page) {
  const { text, source, examples } = page.view.elements;
  const buttons = page.state.catalogue.examples.map((example) => {
    const button = createElement("button", "example", example.source || example.text);
    button.onclick = () => {
      text.value = example.text;
      source.value = example.source;
      fitHeights([text, source]);
      page.state.writesTarget = page.state.catalogue.writes_target;
      page.change({
        text: example.text,
        source: example.source,
        sort: example.sort,
        masked_positions: [],
        pinned: [],
        query: -1,
        target_token: -1,
      });
    };
    return button;
  });
  updateChildren(examples, ...buttons);
}

/**
 * With a sentence of ours on the page: what there is to see in its heads.
 * @param {ExplorePage} page @param {string} tab
 */
export function drawHint(page, tab) {
  const { text, source } = page.state.answer.question;
  const example = page.state.catalogue.examples.find((one) => one.text === text && one.source === source);
  const hint = (tab === "heads" && example?.hint) || "";
  page.view.elements.hint.textContent = hint;
  page.view.elements.hint.hidden = !hint;
}
