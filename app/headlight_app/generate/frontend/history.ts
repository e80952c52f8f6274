// Generated tokens: the line on the page, the answer to each of its prefixes, and the abandoned lines.

import type { AnyRecord, Branch, GeneratedToken, PageToken, ShownToken } from "./types.ts";

const BRANCHES = 6; // that are offered
const RECORDS = 1_200; // answers kept in the browser

export class History {
  #generated: readonly GeneratedToken[] = [];
  /** Answers by prefix, so that going back needs no request. */
  #records: Map<string, AnyRecord> = new Map();
  /** Answers to the last question with answers. */
  #answered: Map<string, AnyRecord> = new Map();
  #branches: Branch[] = [];

  /** The tokens on the page. */
  get generated() {
    return this.#generated;
  }

  /** The answer after all generated tokens, or null if not known. */
  get newest() {
    return this.recordAt(this.#generated.length);
  }

  /** The answer before token number `step` was generated, or null. */
  recordAt(step: number) {
    return this.#records.get(keyOf(this.#generated.slice(0, step))) ?? null;
  }

  /** @param record what comes next */
  store(generated: readonly GeneratedToken[], record: AnyRecord) {
    this.#records.set(keyOf(generated), record);
    const [oldest] = this.#records.keys();
    if (this.#records.size > RECORDS) this.#records.delete(oldest);
  }

  /** Starts a new question, for which earlier answers are invalid. */
  restart(generated: readonly GeneratedToken[]) {
    if (this.#records.size) this.#answered = this.#records;
    this.#records = new Map();
    this.#generated = generated;
  }

  /** The new question failed: the old answers stay on the page. */
  restore() {
    this.#records = this.#answered;
  }

  /** The texts of the generated tokens. @param tokens of the whole text */
  readTexts(tokens: PageToken[]) {
    this.#generated = this.#generated.map((token) => ({ ...token, text: tokens[token.position].text }));
  }

  /** Writes a token at a step; the line it replaces becomes a branch. */
  take(step: number, { position, id, text }: GeneratedToken) {
    this.#leave(step);
    this.#generated = [...this.#generated.slice(0, step), { position, id, text }];
  }

  /** @param length of what stays */
  truncate(length: number) {
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

  switchTo({ generated }: Branch) {
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

  /** Saves the line before a change at a step, unless the new line only extends it. */
  #leave(step: number) {
    if (step < this.#generated.length)
      this.#branches = [{ generated: [...this.#generated], from: step }, ...this.#branches];
  }
}

/** The tokens of the text, including the generated ones. */
export function shownTokens(prompt: PageToken[], generated: readonly GeneratedToken[]): ShownToken[] {
  const tokens: ShownToken[] = prompt.map((token) => ({ ...token, step: null }));
  const ofChat = prompt.some(({ role }) => role) && { role: "assistant" as const };
  generated.forEach(({ position, text }, step) => {
    const spaceBefore = Boolean(tokens[position]?.space_before) && !text.startsWith(" ");
    tokens[position] = { text, special: false, step, space_before: spaceBefore, ...ofChat };
  });
  return tokens;
}

function keyOf(generated: readonly GeneratedToken[]) {
  return generated.map(({ position, id }) => `${position}-${id}`).join(".");
}
