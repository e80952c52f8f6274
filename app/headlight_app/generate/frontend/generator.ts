// Generates token by token: requests steps, takes tokens, goes back, plays, and shows earlier steps.

import { inlineText } from "../../ui/frontend/dom/dom.ts";
import { isAbort } from "../../ui/frontend/server.ts";
import { History, shownTokens } from "./history.ts";
import type { GenerateServer } from "./server.ts";
import { Refused } from "./server.ts";
import type { AnyRecord, Branch, GeneratedToken, GenerateState, PageToken } from "./types.ts";

/** Events for a page. */
interface GeneratorEvents {
  changed: () => void; // something must be redrawn
  answered: () => void; // the same, and earlier problems are solved
  failed: (error: unknown) => void;
  moved: () => void; // the tokens on the page have changed
  taken: (texts: string[]) => void; // tokens taken by the visitor or the player
  settled: () => void; // nothing more happens automatically
  waiting: (waiting: boolean) => void; // whether the prompt is being fetched
}

const REDRAWN_EVERY = 8; // answers to earlier steps per redraw

export class Generator {
  #server;
  #state;
  #events;
  #history = new History();
  #prompt: PageToken[] | null = null;
  #source: PageToken[] | null = null;
  /** The displayed step; null: the next one. */
  #viewed: number | null = null;
  #turn = 0;
  /** The pending question, if any. */
  #starting: Promise<void> | null = null;
  /** The pending question after a taken token, if any. */
  #following: Promise<void> | null = null;
  /** Taken tokens that have not been announced yet. */
  #taken: string[] = [];
  /** The current playback, if any. */
  #run: object | null = null;
  /** Duration of each step during playback, in milliseconds. */
  #pace: number[] = [];
  /** Tokens per second during playback; 0: as fast as possible. */
  speed = 5;

  constructor(
    server: Pick<GenerateServer, "fetchStep" | "abort">,
    state: () => GenerateState,
    events: GeneratorEvents,
  ) {
    this.#server = server;
    this.#state = state;
    this.#events = events;
  }

  get generated() {
    return this.#history.generated;
  }

  get branches() {
    return this.#history.branches;
  }

  get viewed() {
    return this.#viewed;
  }

  /** The token that was taken at the displayed step; null at the next one. */
  get taken() {
    return this.#viewed === null ? null : this.generated[this.#viewed];
  }

  /** The displayed step, or the next one. */
  get step() {
    return this.#viewed ?? this.generated.length;
  }

  get playing() {
    return this.#run !== null;
  }

  get pace() {
    return this.#pace;
  }

  get hasPrompt() {
    return this.#prompt !== null;
  }

  get source() {
    return this.#source;
  }

  /** The tokens of the text, including the generated ones. */
  get tokens() {
    return shownTokens(this.#prompt ?? [], this.generated);
  }

  get newest() {
    return this.#history.newest;
  }

  /** The displayed answer: of a taken token, or of the next one. */
  get record() {
    return this.recordAt(this.step);
  }

  recordAt(step: number) {
    return this.#history.recordAt(step);
  }

  /** Why no more tokens can be taken; "" if one can. */
  get endReason() {
    const record = this.newest;
    const last = this.generated.at(-1);
    if (!record) return "";
    if (record.done)
      return last ? "Every mask is filled." : "Nothing is masked. Click a word to mask it, or write [MASK].";
    if (last && record.end_tokens.includes(last.id))
      return `The model has ended the text with ${inlineText(last.text)}.`;
    const full = this.#state().mode === "continue" && record.position >= record.context;
    return full ? `The text has ${record.length} tokens, as many as this model reads.` : "";
  }

  /** Whether an answer was sampled with settings other than the current ones. */
  isOutdated(record: AnyRecord) {
    return !record.done && JSON.stringify(record.sampling) !== JSON.stringify(this.#state().sampling);
  }

  /** Starts with a new question. Generated tokens are kept if they still fit. */
  start(generated: readonly GeneratedToken[] = []) {
    const starting = this.#start(generated).finally(() => {
      if (this.#starting === starting) this.#starting = null;
    });
    this.#starting = starting;
    return starting;
  }

  async #start(generated: readonly GeneratedToken[]) {
    this.#server.abort();
    const turn = ++this.#turn;
    this.stop();
    this.#history.restart(generated);
    this.#viewed = null;
    this.#events.waiting(true);
    try {
      if (!(await this.#readPrompt(turn))) return;
      if (generated.length) await this.#readWritten(turn);
      if (turn !== this.#turn) return;
      this.#events.answered();
      this.#fillRecords(turn);
    } catch (error) {
      if (turn !== this.#turn) return;
      if (!this.recordAt(0)) this.#history.restore();
      this.#fail(error);
    } finally {
      if (turn === this.#turn) this.#events.waiting(false);
    }
  }

  /** Takes the sampled token once it has arrived; returns whether there was one. */
  async takeSampled() {
    this.#viewed = null;
    while (!this.newest && (this.#following ?? this.#starting)) await (this.#following ?? this.#starting);
    const record = this.newest;
    if (!record || record.done || this.endReason) return false;
    const { position, chosen: id, chosen_text: text } = record;
    await this.take(this.generated.length, { position, id, text });
    return true;
  }

  /** Takes a token at a step: the text continues from there, and the replaced branch is offered. */
  async take(step: number, token: GeneratedToken) {
    this.#history.take(step, token);
    this.#taken.push(token.text);
    const following = this.#follow().finally(() => {
      if (this.#following === following) this.#following = null;
    });
    this.#following = following;
    await following;
    if (!this.playing) this.#tellTaken();
  }

  #tellTaken() {
    const taken = this.#taken.splice(0);
    if (taken.length) this.#events.taken(taken);
  }

  /** @param length in generated tokens */
  backTo(length: number) {
    if (length >= this.generated.length) return;
    this.stop();
    this.#history.truncate(length);
    this.#follow();
  }

  switchTo(branch: Branch) {
    this.stop();
    this.#history.switchTo(branch);
    this.#follow();
  }

  forgetBranches() {
    this.#history.forgetBranches();
  }

  /** Plays until stopped or until the text ends. */
  async play() {
    const run = {};
    this.#run = run;
    this.#pace = [];
    this.#events.changed();
    await this.#starting;
    while (this.#run === run) {
      const started = performance.now();
      if (!(await this.takeSampled())) break;
      const wait = this.speed ? 1_000 / this.speed - (performance.now() - started) : 0;
      await new Promise((resolve) => setTimeout(resolve, Math.max(wait, 0)));
      this.#pace.push(performance.now() - started);
    }
    if (this.#run === run) this.stop();
  }

  stop() {
    if (!this.#run) return;
    this.#run = null;
    this.#tellTaken();
    this.#events.settled();
    this.#events.changed();
  }

  /** Stops everything, without further events. */
  dispose() {
    this.#turn++;
    this.#run = null;
    this.#server.abort();
  }

  /** Shows an earlier step, or the next one (null). Returns whether it is displayed. */
  async view(step: number | null) {
    this.stop();
    this.#viewed = step;
    this.#events.changed();
    if (step === null || this.record) return true;
    try {
      await this.#fetch(this.generated.slice(0, step));
    } catch (error) {
      this.#fail(error);
      return false;
    }
    const isShown = this.#viewed === step;
    if (isShown) this.#events.changed();
    return isShown;
  }

  /** Resamples the next token with new settings; taken tokens stay. */
  async resample() {
    this.#viewed = null;
    if (this.#starting) return this.start(this.generated);
    const turn = ++this.#turn;
    try {
      const record = await this.#fetch(this.generated, { latest: true });
      if (turn === this.#turn && record) this.#events.answered();
    } catch (error) {
      if (turn === this.#turn) this.#fail(error);
    }
  }

  /** Shows the current text, and requests the next step if it is not known. */
  async #follow() {
    this.#viewed = null;
    this.#events.moved();
    if (this.#starting) return this.start(this.generated); // its answer would be about another text
    const turn = ++this.#turn;
    try {
      const known = this.newest;
      if (!known || this.isOutdated(known)) {
        this.#events.changed();
        await this.#fetch(this.generated);
      }
      if (turn !== this.#turn) return;
      this.#events.answered();
    } catch (error) {
      if (turn === this.#turn) this.#fail(error);
    }
    if (!this.playing) this.#events.settled();
  }

  #fail(error: unknown) {
    if (isAbort(error)) return;
    this.stop();
    this.#events.failed(error);
  }

  /** @returns whether this is still the current question */
  async #readPrompt(turn: number): Promise<boolean> {
    const first = await this.#fetch([], { latest: true, tokens: true });
    if (turn !== this.#turn || !first?.tokens) return false;
    this.#prompt = first.tokens.text;
    this.#source = first.tokens.source;
    return true;
  }

  /** Fetches the texts of tokens from the address; drops the tokens if they no longer fit. */
  async #readWritten(turn: number) {
    try {
      const last = await this.#fetch(this.generated, { tokens: true });
      if (turn === this.#turn && last?.tokens) this.#history.readTexts(last.tokens.text);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (turn !== this.#turn) return;
      this.#history.dropWritten();
      this.#viewed = null;
    }
  }

  /** Fetches the answers to earlier steps of tokens from the address. */
  async #fillRecords(turn: number) {
    for (let step = 1; step < this.generated.length; step++) {
      if (turn !== this.#turn) return;
      if (this.recordAt(step)) continue;
      try {
        await this.#fetch(this.generated.slice(0, step));
      } catch {
        return; // requested again when it is shown
      }
      const due = step % REDRAWN_EVERY === 0 || step === this.generated.length - 1;
      if (turn === this.#turn && due) this.#events.changed();
    }
  }

  async #fetch(generated: readonly GeneratedToken[], options?: { latest?: boolean; tokens?: boolean }) {
    const record = await this.#server.fetchStep(this.#state(), generated, options);
    if (record) this.#history.store(generated, record);
    return record;
  }
}
