// The next token, or the one of an earlier step: its title, and the views of its candidates.

import { formatPlaces } from "../../ui/frontend/dom/numbers.ts";
import { RowsPlace } from "../../ui/frontend/views/rows.ts";
import type { Picks } from "../../ui/frontend/views/types.ts";
import type { GenerateElements } from "./elements.ts";
import type { Generator } from "./generator.ts";
import type { Mode, StepRecord } from "./types.ts";

export class NextToken {
  #elements;
  #generator;
  #rows;

  constructor(elements: GenerateElements, generator: Generator) {
    this.#elements = elements;
    this.#generator = generator;
    this.#rows = new RowsPlace(elements.candidates);
  }

  draw(mode: Mode) {
    const { record, viewed, endReason, taken } = this.#generator;
    const { newest, candidates } = this.#elements;
    newest.hidden = viewed === null;
    candidates.ariaBusy = String(!record);
    if (!record && candidates.childElementCount) return; // they keep the keyboard focus until the next arrive
    if (!record || record.done || (endReason && viewed === null)) {
      this.#say(record ? "The end" : "…", endReason);
      this.#rows.draw([]);
      return;
    }
    const { temperature } = record.sampling;
    const isOutdated = this.#generator.isOutdated(record);
    const next = mode === "fill" ? "The most certain mask" : "Next token";
    this.#say(
      taken ? "Other candidates for this token" : next,
      isOutdated ? `Sampled at temperature ${formatPlaces(temperature, 2)}.` : "",
    );
    this.#rows.draw(record.rows, this.#picksOf(record), taken?.id);
  }

  #say(title: string, words: string) {
    const { nextTitle, nextWhere } = this.#elements;
    nextTitle.textContent = title;
    nextWhere.textContent = words;
    nextWhere.hidden = !words;
  }

  /** A click takes a candidate, unless the next ones are being fetched. */
  #picksOf(record: StepRecord): Picks {
    const generator = this.#generator;
    return {
      choose({ token, token_text: text }) {
        if (generator.record !== record) return;
        generator.stop();
        generator.take(generator.step, { position: record.position, id: Number(token), text: String(text) });
      },
      isChosen: ({ token }) => token === generator.taken?.id,
    };
  }
}
