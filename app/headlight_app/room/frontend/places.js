// The title and the question of a place, from the server.

/** @import { Asked } from "./counts.js" */
/** @import { PageRow } from "./scene_list.js" */

/**
 * Describes the places of one kind, by the names after the kind.
 * @typedef {object} Describer
 * @property {(api: string, names: string[]) => Promise<string>} title "" for an unknown place
 * @property {(api: string, names: string[]) => Promise<Asked | null>} question
 */

/**
 * By the first name of a place, which a student sends: a Map has no names but its own.
 * @typedef {Map<string, Describer>} Describers
 */

export class Places {
  #api;
  #pages;
  #describers;
  /** @type {Map<string, Promise<string>>} */
  #titles = new Map();
  /** @type {Map<string, Promise<Asked | null>>} */
  #questions = new Map();

  /** @param {string} api @param {PageRow[]} pages @param {Describers} describers */
  constructor(api, pages, describers) {
    this.#api = api;
    this.#pages = pages;
    this.#describers = describers;
  }

  /** The title of a place; "" for an unknown one. @param {string} place */
  title(place) {
    const [kind, ...names] = place.split("/");
    const page = this.#pages.find(({ name }) => name === kind);
    const describer = this.#describers.get(kind);
    if (!describer || !names.length) return Promise.resolve(page?.title ?? "");
    return once(this.#titles, place, () => describer.title(this.#api, names));
  }

  /** The question at a place; null if there is none. @param {string} place */
  async question(place) {
    const [kind, ...names] = place.split("/");
    const describer = this.#describers.get(kind);
    if (!describer || !(await this.title(place))) return null;
    return once(this.#questions, place, () => describer.question(this.#api, names));
  }
}

/**
 * The value for a name, made once; a failed one is made again.
 * @template Value @param {Map<string, Promise<Value>>} known @param {string} name @param {() => Promise<Value>} make
 */
function once(known, name, make) {
  const found = known.get(name) ?? make();
  known.set(name, found);
  found.catch(() => known.delete(name));
  return found;
}
