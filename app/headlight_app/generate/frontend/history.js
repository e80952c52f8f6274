// Generated tokens: the line on the page, the answer to each of its prefixes, and the abandoned lines.

/** @import { AnyRecord, Branch, GeneratedToken, PageToken, ShownToken } from "./types.d.ts" */

const BRANCHES = 6; // that are offered
const RECORDS = 1_200; // answers kept in the browser

export class History {
  /** @type {readonly GeneratedToken[]} */
  #generated = [];
  /** Answers by prefix, so that going back needs no request. @type {Map<string, AnyRecord>} */
  #records = new Map();
  /** Answers to the last question with answers. @type {Map<string, AnyRecord>} */
  #answered = new Map();
  /** @type {Branch[]} */
  #branches = [];

  /** The tokens on the page. */
  get generated() {
    return this.#generated;
  }

  /** The answer after all generated tokens, or null if not known. */
  get newest() {
    return this.recordAt(this.#generated.length);
  }

  /** The answer before token number `step` was generated, or null. @param {number} step */
  recordAt(step) {
    return this.#records.get(keyOf(this.#generated.slice(0, step))) ?? null;
  }

  /** @param {readonly GeneratedToken[]} generated @param {AnyRecord} record what comes next */
  store(generated, record) {
    this.#records.set(keyOf(generated), record);
    const [oldest] = this.#records.keys();
    if (this.#records.size > RECORDS) this.#records.delete(oldest);
  }

  /** Starts a new question, for which earlier answers are invalid. @param {readonly GeneratedToken[]} generated */
  restart(generated) {
    if (this.#records.size) this.#answered = this.#records;
    this.#records = new Map();
    this.#generated = generated;
  }

  /** The new question failed: the old answers stay on the page. */
  restore() {
    this.#records = this.#answered;
  }

  /** The texts of the generated tokens. @param {PageToken[]} tokens of the whole text */
  readTexts(tokens) {
    this.#generated = this.#generated.map((token) => ({ ...token, text: tokens[token.position].text }));
  }

  /**
   * Writes a token at a step; the line it replaces becomes a branch.
   * @param {number} step @param {GeneratedToken} token
   */
  take(step, { position, id, text }) {
    this.#leave(step);
    this.#generated = [...this.#generated.slice(0, step), { position, id, text }];
  }

  /** @param {number} length of what stays */
  truncate(length) {
    this.#leave(length);
    this.#generated = this.#generated.slice(0, length);
  }

  /** The newest lines that differ from the one on the page. */
  get branches() {
    const current = keyOf(this.#generated);
    const seen = new Set();
    this.#branches = this.#branches.filter(({ generated }) => {
      const key = keyOf(generated);
      const known = seen.has(key) || current === key || current.startsWith(`${key}.`);
      seen.add(key);
      return !known;
    });
    return this.#branches.slice(0, BRANCHES);
  }

  /** @param {Branch} branch */
  switchTo({ generated }) {
    const old = this.#generated;
    const from = generated.findIndex(
      (token, step) => token.id !== old[step]?.id || token.position !== old[step]?.position,
    );
    if (old.length > from) this.#branches.push({ generated: [...old], from });
    this.#generated = generated;
  }

  /** Drops the generated tokens, which no longer fit. */
  dropWritten() {
    this.#generated = [];
  }

  forgetBranches() {
    this.#branches = [];
  }

  /** Saves the line before a change at a step, unless the new line only extends it. @param {number} step */
  #leave(step) {
    if (step < this.#generated.length)
      this.#branches = [{ generated: [...this.#generated], from: step }, ...this.#branches];
  }
}

/**
 * The tokens of the text, including the generated ones.
 * @param {PageToken[]} prompt @param {readonly GeneratedToken[]} generated @returns {ShownToken[]}
 */
export function shownTokens(prompt, generated) {
  /** @type {ShownToken[]} */
  const tokens = prompt.map((token) => ({ ...token, step: null }));
  const ofChat = prompt.some(({ role }) => role) && { role: /** @type {const} */ ("assistant") };
  generated.forEach(({ position, text }, step) => {
    const spaceBefore = Boolean(tokens[position]?.space_before) && !text.startsWith(" ");
    tokens[position] = { text, special: false, step, space_before: spaceBefore, ...ofChat };
  });
  return tokens;
}

/** @param {readonly GeneratedToken[]} generated */
function keyOf(generated) {
  return generated.map(({ position, id }) => `${position}-${id}`).join(".");
}
