// The title and the question of a place, from the server.

import type { AskedQuestion } from "../../course/frontend/contract.ts";
import { GIVE_UP } from "../../ui/frontend/contract.ts";
import type { AnswerCount, QuestionCounts } from "./contract.ts";
import type { PageRow } from "./scene_list.ts";

/** Describes the places of one kind, by the names after the kind. */
interface Describer {
  title: (api: string, names: string[]) => Promise<string>; // "" for an unknown place
  /** What a variant asks, after tries; null if it asks nothing. */
  question: (api: string, names: string[], variant: string, tries: string[]) => Promise<Described | null>;
}

/**
 * A question, and the text and numbers that it is about if they differ between learners. `is_right` is null if answers
 * cannot be marked.
 */
export type Described = Omit<AskedQuestion, "is_right"> & { is_right: boolean | null; about?: string };

/** An answer, and the question that these students were asked, with its mark if marks are told; null: unknown. */
export type Judged = AnswerCount & { question: Described | null };

const PARALLEL = 4; // questions at a time, because each may run a model
const FORGOTTEN = 60_000; // milliseconds until a refused question is asked again

export const OTHER = "other"; // the variant of a question on a screen that its student has changed

/** By the first name of a place, which a student sends: a Map has no names but its own. */
export type Describers = Map<string, Describer>;

export class Places {
  #api;
  #pages;
  #describers;
  #titles: Map<string, Promise<string>> = new Map();
  #questions: Map<string, Promise<Described | null>> = new Map();

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

  /** Each answer with its question, and with its mark if `isMarked`. */
  judge({ place, answers }: QuestionCounts, isMarked: boolean): Promise<Judged[]> {
    return mapInTurns(answers, async (answer) => {
      if (answer.variant === OTHER) return { ...answer, question: null };
      const tries = isMarked && answer.name !== GIVE_UP ? [answer.name] : [];
      return { ...answer, question: await this.question(place, answer.variant, tries).catch(() => null) };
    });
  }

  /** The question at a place, after tries; null if there is none. */
  async question(place: string, variant: string = "", tries: string[] = []) {
    const [kind, ...names] = place.split("/");
    const describer = this.#describers.get(kind);
    if (!describer || !(await this.title(place))) return null;
    const key = [place, variant, ...tries].join(" ");
    return once(this.#questions, key, () => describer.question(this.#api, names, variant, tries));
  }
}

/** The value for a name, made once; a failed one is made again, after a refusal in a minute. */
function once<Value>(known: Map<string, Promise<Value>>, name: string, make: () => Promise<Value>) {
  const kept = known.get(name);
  if (kept) return kept;
  const made = make();
  known.set(name, made);
  made.catch((error) => setTimeout(() => known.delete(name), error instanceof TypeError ? 0 : FORGOTTEN));
  return made;
}

/** The results for all items, a few of them at a time. */
async function mapInTurns<Item, Result>(items: Item[], act: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  const left = items.entries();
  const work = async () => {
    for (const [at, item] of left) results[at] = await act(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return results;
}
