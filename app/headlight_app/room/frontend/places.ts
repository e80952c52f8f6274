// The title and the question of a place, from the server.

import type { Asked } from "./counts.ts";
import type { PageRow } from "./scene_list.ts";

/** Describes the places of one kind, by the names after the kind. */
interface Describer {
  title: (api: string, names: string[]) => Promise<string>; // "" for an unknown place
  question: (api: string, names: string[]) => Promise<Asked | null>;
}

/** By the first name of a place, which a student sends: a Map has no names but its own. */
export type Describers = Map<string, Describer>;

export class Places {
  #api;
  #pages;
  #describers;
  #titles: Map<string, Promise<string>> = new Map();
  #questions: Map<string, Promise<Asked | null>> = new Map();

  constructor(api: string, pages: PageRow[], describers: Describers) {
    this.#api = api;
    this.#pages = pages;
    this.#describers = describers;
  }

  /** The title of a place; "" for an unknown one. */
  title(place: string) {
    const [kind, ...names] = place.split("/");
    const page = this.#pages.find(({ name }) => name === kind);
    const describer = this.#describers.get(kind);
    if (!describer || !names.length) return Promise.resolve(page?.title ?? "");
    return once(this.#titles, place, () => describer.title(this.#api, names));
  }

  /** The question at a place; null if there is none. */
  async question(place: string) {
    const [kind, ...names] = place.split("/");
    const describer = this.#describers.get(kind);
    if (!describer || !(await this.title(place))) return null;
    return once(this.#questions, place, () => describer.question(this.#api, names));
  }
}

/** The value for a name, made once; a failed one is made again. */
function once<Value>(known: Map<string, Promise<Value>>, name: string, make: () => Promise<Value>) {
  const found = known.get(name) ?? make();
  known.set(name, found);
  found.catch(() => known.delete(name));
  return found;
}
