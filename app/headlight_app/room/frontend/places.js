// What a place is called, and what is asked there, as the server says it.

import { describeScreen, titleScreen } from "./course_places.js";
import { describeStep, titleStep } from "./lesson_places.js";

/** @import { Asked } from "./counts.js" */
/** @import { PageRow } from "../../frame/frontend/scenes/scene_list.js" */

/**
 * How places of one kind are described, by the names behind the kind.
 * @typedef {object} Describer
 * @property {(api: string, names: string[]) => Promise<string>} title "" for what is not there
 * @property {(api: string, names: string[]) => Promise<Asked | null>} question
 */

/** @type {Record<string, Describer | undefined>} */
const DESCRIBERS = {
  course: { title: titleScreen, question: describeScreen },
  lesson: { title: titleStep, question: describeStep },
};

export class Places {
  #api;
  #pages;
  /** @type {Map<string, Promise<string>>} */
  #titles = new Map();
  /** @type {Map<string, Promise<Asked | null>>} */
  #questions = new Map();

  /** @param {string} api @param {PageRow[]} pages */
  constructor(api, pages) {
    this.#api = api;
    this.#pages = pages;
  }

  /** What a place is called; "" for one that is not there. @param {string} place */
  title(place) {
    const [kind, ...names] = place.split("/");
    const page = this.#pages.find(({ name }) => name === kind);
    const describer = DESCRIBERS[kind];
    if (!describer || !names.length) return Promise.resolve(page?.title ?? "");
    return once(this.#titles, place, () => describer.title(this.#api, names));
  }

  /** The question that is asked at a place; null where there is none. @param {string} place */
  async question(place) {
    const [kind, ...names] = place.split("/");
    const describer = DESCRIBERS[kind];
    if (!describer || !(await this.title(place))) return null;
    return once(this.#questions, place, () => describer.question(this.#api, names));
  }
}

/**
 * What was made once for a name; again where it failed.
 * @template Value @param {Map<string, Promise<Value>>} known @param {string} name @param {() => Promise<Value>} make
 */
function once(known, name, make) {
  const found = known.get(name) ?? make();
  known.set(name, found);
  found.catch(() => known.delete(name));
  return found;
}
