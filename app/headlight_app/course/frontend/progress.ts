// A learner's progress, kept in this browser and optionally in a file: the screens done, the last one, and whether
// questions come first.

import { table } from "../../ui/frontend/dom/table.ts";

const KEY = "headlight-course";

type Kept = { done: string[]; last: string; showsAtOnce: boolean }; // screens are `chapter/screen`

export class Progress {
  #storage;
  #kept: Kept;
  #same: Record<string, string> = {};

  constructor(storage: Pick<Storage, "getItem" | "setItem">) {
    this.#storage = storage;
    this.#kept = read(storage);
  }

  /** The last screen visited, "" before the first. */
  get last() {
    return this.#kept.last;
  }

  get showsAtOnce() {
    return this.#kept.showsAtOnce;
  }

  set showsAtOnce(showsAtOnce) {
    this.#keep({ showsAtOnce });
  }

  /** Screens with two addresses, each with the one under which it is kept. */
  know(same: Record<string, string>) {
    this.#same = table(same);
  }

  isDone(path: string) {
    return this.#kept.done.includes(this.keptAs(path));
  }

  finish(path: string) {
    if (!this.isDone(path)) this.#keep({ done: [...this.#kept.done, this.keptAs(path)], last: path });
  }

  /** The address under which a screen is kept: another one if two chapters have it. */
  keptAs(path: string) {
    return this.#same[path] ?? path;
  }

  visit(path: string) {
    this.#keep({ last: path });
  }

  /** Clears the progress; keeps the choice whether questions come first. */
  forget() {
    this.#keep({ done: [], last: "" });
  }

  /** The progress as the text of a file. */
  get text() {
    return JSON.stringify(this.#kept);
  }

  /** Adds the progress of a file to the progress here; returns whether the file contained any. */
  load(text: string) {
    const { done, last, showsAtOnce } = parse(text);
    if (!done.length) return false;
    this.#keep({ done: [...new Set([...this.#kept.done, ...done])], last: last || this.#kept.last, showsAtOnce });
    return true;
  }

  #keep(patch: Partial<Kept>) {
    this.#kept = { ...this.#kept, ...patch };
    try {
      this.#storage.setItem(KEY, JSON.stringify(this.#kept));
    } catch {
      // Without storage the course still works; only the marks are lost on a reload.
    }
  }
}

function read(storage: Pick<Storage, "getItem">) {
  try {
    return parse(storage.getItem(KEY) ?? "");
  } catch {
    return parse(""); // a browser that denies access to its storage
  }
}

/** The stored progress; empty if this module did not write the text. */
function parse(text: string): Kept {
  try {
    const { done, last, showsAtOnce } = JSON.parse(text);
    const paths = Array.isArray(done) ? done.filter((each) => typeof each === "string") : [];
    return { done: paths, last: String(last ?? ""), showsAtOnce: showsAtOnce === true };
  } catch {
    return { done: [], last: "", showsAtOnce: false };
  }
}
