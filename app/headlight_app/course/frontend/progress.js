// What a learner has done, kept in this browser: screens that are done, where they were, and whether they are asked.

const KEY = "headlight-course";

/** @typedef {{ done: string[], last: string, showsAtOnce: boolean }} Kept screens are `chapter/screen` */

export class Progress {
  #storage;
  /** @type {Kept} */
  #kept;

  /** @param {Pick<Storage, "getItem" | "setItem">} storage */
  constructor(storage) {
    this.#storage = storage;
    this.#kept = read(storage);
  }

  /** The screen that was read last, "" before the first. */
  get last() {
    return this.#kept.last;
  }

  get showsAtOnce() {
    return this.#kept.showsAtOnce;
  }

  set showsAtOnce(showsAtOnce) {
    this.#keep({ showsAtOnce });
  }

  /** @param {string} path */
  isDone(path) {
    return this.#kept.done.includes(path);
  }

  /** @param {string} path */
  finish(path) {
    if (!this.isDone(path)) this.#keep({ done: [...this.#kept.done, path], last: path });
  }

  /** @param {string} path */
  visit(path) {
    this.#keep({ last: path });
  }

  /** Begins anew; whether questions come first stays as it was chosen. */
  forget() {
    this.#keep({ done: [], last: "" });
  }

  /** @param {Partial<Kept>} patch */
  #keep(patch) {
    this.#kept = { ...this.#kept, ...patch };
    try {
      this.#storage.setItem(KEY, JSON.stringify(this.#kept));
    } catch {
      // A browser that keeps nothing still shows the course; only the marks are gone after a reload.
    }
  }
}

/** @param {Pick<Storage, "getItem">} storage @returns {Kept} */
function read(storage) {
  /** @type {Kept} */
  const nothing = { done: [], last: "", showsAtOnce: false };
  try {
    const found = JSON.parse(storage.getItem(KEY) ?? "{}");
    const done = Array.isArray(found.done)
      ? found.done.filter((/** @type {unknown} */ each) => typeof each === "string")
      : [];
    return { done, last: String(found.last ?? ""), showsAtOnce: found.showsAtOnce === true };
  } catch {
    return nothing;
  }
}
