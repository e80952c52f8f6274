// Where a generated token comes from: the heads that copied it or suppressed it, and the passages of the prompt.

import { formatSigned } from "../../ui/frontend/charts/charts.ts";
import { addBars } from "../../ui/frontend/charts/figure_charts.ts";
import { titled } from "../../ui/frontend/charts/shapes.ts";
import { createBar } from "../../ui/frontend/charts/track.ts";
import {
  createButton,
  createElement,
  formatPercent,
  inlineText,
  quotedToken,
  updateChildren,
} from "../../ui/frontend/dom/dom.ts";
import { createTable } from "../../ui/frontend/export/page_export.ts";
import type { Box, Figure, Table } from "../../ui/frontend/export/types.ts";
import { askRoute } from "../../ui/frontend/server.ts";
import type { GenerateElements } from "./elements.ts";
import type { Generator } from "./generator.ts";
import { questionOf } from "./server.ts";
import type { CopyingAnswer, CopyingHead, CopyingRequest, GenerateState, PassageAnswer } from "./types.ts";

type Found = { meta: CopyingAnswer | null; problem: string };

const PAUSE = 300; // milliseconds on a step before the request
const LISTED = 4; // heads of either kind
const KEPT = 64; // answers
const PATH = /^\w+\.(\d+)\./;

export class CopyingView {
  #elements;
  #generator;
  #events;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Answers by request. */
  #known: Map<string, Found> = new Map();
  #key = "";
  /** The last deleted passage, the answer before, and the prompt with and without it. */
  #deleted = { passage: "", answer: "", before: "", after: "" };

  constructor(
    elements: GenerateElements,
    generator: Generator,
    events: {
      api: string;
      redraw: () => void;
      choose: (layer: number, head: number) => void;
      prompt: (text: string) => void;
    },
  ) {
    this.#elements = elements;
    this.#generator = generator;
    this.#events = events;
  }

  /** The displayed answer. */
  get shown(): CopyingAnswer | null {
    return this.#known.get(this.#key)?.meta ?? null;
  }

  draw(state: GenerateState) {
    const request = this.#request(state);
    clearTimeout(this.#timer);
    this.#key = JSON.stringify(request);
    const found = this.#known.get(this.#key);
    const { copied } = this.#elements;
    copied.ariaBusy = String(request !== null && !found);
    copied.hidden = !request || (!found && copied.hidden);
    if (found) this.#show(found, state.choice.text);
    else if (request && !this.#generator.playing) this.#timer = setTimeout(() => this.#ask(request, this.#key), PAUSE);
  }

  end() {
    clearTimeout(this.#timer);
  }

  /** The request for the displayed token, or the next one. */
  #request(state: GenerateState): CopyingRequest | null {
    const { record, viewed, generated, step } = this.#generator;
    const taken = viewed === null ? null : generated[viewed];
    if (!taken && (!record || record.done || this.#generator.endReason)) return null;
    const { position, id } = taken ?? {
      position: record?.done ? 0 : (record?.position ?? 0),
      id: record?.done ? 0 : (record?.chosen ?? 0),
    };
    const before = generated.slice(0, step).map((one) => [one.position, one.id] as [number, number]);
    return { question: questionOf(state), generated: before, position, token: id };
  }

  async #ask(request: CopyingRequest, key: string) {
    const found: Found = { meta: null, problem: "" };
    try {
      found.meta = (await askRoute(this.#events.api, "copying", request)).meta;
    } catch (error) {
      found.problem = error instanceof Error ? error.message : "";
    }
    this.#known.set(key, found);
    if (this.#known.size > KEPT) this.#known.delete(this.#known.keys().next().value ?? "");
    if (key === this.#key) this.#events.redraw();
  }

  #show({ meta, problem }: Found, prompt: string) {
    const { copiedTitle, copiedWords, copiedProof, copiedHeads, copiedPassages, copied } = this.#elements;
    copied.hidden = false;
    copiedTitle.replaceChildren("Where ", ...(meta ? [quotedToken(meta)] : ["it"]), " comes from");
    copiedWords.replaceChildren(...(meta ? sourceWords(meta) : [problem]));
    updateChildren(copiedHeads, ...(meta ? this.#headRows(meta) : []));
    updateChildren(copiedPassages, ...(meta && meta.passages.length > 1 ? this.#passageRows(meta, prompt) : []));
    copiedProof.hidden = prompt !== this.#deleted.after || !meta;
    if (meta && !copiedProof.hidden) copiedProof.replaceChildren(...this.#proof(meta));
  }

  #delete(deleted: { passage: string; answer: string; before: string; after: string }) {
    this.#deleted = deleted;
    this.#events.prompt(deleted.after);
  }

  /** The effect of the deletion on the answer. */
  #proof({ text }: CopyingAnswer): (Node | string)[] {
    const { passage, answer, before } = this.#deleted;
    const [was, is] = [quotedToken({ text: answer }), quotedToken({ text })];
    const words = text === answer ? ["the answer stays ", is] : ["the answer is ", is, " and no longer ", was];
    const back = createButton("act", "Put it back", "passage-back", () => this.#events.prompt(before));
    return ["Without ", quotedToken({ text: passage }), " ", ...words, ". ", back];
  }

  #headRows({ heads, text }: CopyingAnswer) {
    const [copiers, suppressors] = [heads.filter(({ logit }) => logit > 0), heads.filter(({ logit }) => logit < 0)];
    return [...copiers.slice(0, LISTED), ...suppressors.slice(0, LISTED)].map((head) => this.#headRow(head, text));
  }

  #headRow({ path, head, key, weight, logit }: CopyingHead, text: string) {
    const layer = Number(path.match(PATH)?.[1] ?? 0);
    const name = createButton("name", `layer ${layer}, head ${head}`, `copying-${layer}-${head}`, () =>
      this.#events.choose(layer, head),
    );
    const does = [
      logit > 0 ? " copied it: " : " suppressed it: ",
      `${formatPercent(weight)} of its attention on `,
      quotedToken({ text }),
      ` at ${key}`,
    ];
    return createElement("li", "", [
      createElement("span", "", [name, ...does]),
      createElement("b", logit > 0 ? "for" : "against", formatSigned(logit)),
    ]);
  }

  #passageRows({ passages, source, text }: CopyingAnswer, prompt: string) {
    const most = Math.max(...passages.map(({ copied }) => Math.abs(copied)), 1e-9);
    return passages.map((passage, place) => {
      const track = createElement("span", "track", [createBar("bar", Math.max(passage.copied, 0) / most)]);
      const { without } = passage;
      const remove = createButton("act", "Delete", `delete-passage-${place}`, () =>
        this.#delete({ passage: passage.text, answer: text, before: prompt, after: without ?? prompt }),
      );
      remove.hidden = without === null;
      remove.title = "Delete this passage from the prompt, and see whether the answer stays";
      remove.ariaLabel = `Delete passage ${place + 1}`;
      const numbers = createElement(
        "span",
        "number",
        `${formatSigned(passage.copied)} copied, ${formatSigned(passage.moved)} in all`,
      );
      const name = createElement("span", "name", [
        createElement("b", "", `Passage ${place + 1} `),
        createElement("bdi", "", inlineText(passage.text)),
      ]);
      return createElement("li", place === source ? "chosen" : "", [name, track, numbers, remove]);
    });
  }
}

/** The origin of the token in a sentence. */
export function sourceWords({ text, occurrences, heads, passages, source }: CopyingAnswer): (Node | string)[] {
  if (!occurrences.length)
    return [quotedToken({ text }), " does not occur in the text that the model read, so no head could copy it."];
  const times = occurrences.length === 1 ? "once" : `${occurrences.length} times`;
  const stands = [quotedToken({ text }), ` occurs ${times} in the text that the model read`];
  if (!heads.some(({ logit }) => logit > 0))
    return [...stands, ", but no head adds 0.05 or more to its logit from there."];
  if (source === null || passages.length < 2) return [...stands, "."];
  return [
    ...stands,
    ". It comes from ",
    createElement("b", "", `passage ${source + 1}`),
    ": ",
    quotedToken(passages[source]),
    ".",
  ];
}

/** Draws the passages as bars, for export. */
export function passagesPanel(figure: Figure, { passages, text }: CopyingAnswer) {
  const values = passages.flatMap(({ copied, moved }) => [copied, moved]);
  const rows = passages.map((passage) => ({
    label: inlineText(passage.text),
    values: [passage.copied, passage.moved],
  }));
  const ends = { least: Math.min(0, ...values), most: Math.max(1e-9, ...values) };
  const chart = { rows, kinds: ["copied", "in all"], ...ends, format: formatSigned, missing: "" };
  const title = `What each passage adds to the logit of “${inlineText(text)}”`;
  return titled(figure, title, (box: Box) => addBars(figure, chart, box));
}

/** The numbers as tables, for export. */
export function copyingTables({ heads, passages }: CopyingAnswer): Record<string, Table> {
  const of = (rows: PassageAnswer[]) => rows.flatMap(({ copied, moved }) => [copied, moved]);
  const names = heads.map(({ path, head, key }) => `${path}[${head}] from ${key}`);
  return {
    ...(heads.length && {
      "Heads that copied": createTable(
        "copying heads",
        { head: names, number: ["weight", "added to the logit"] },
        heads.flatMap(({ weight, logit }) => [weight, logit]),
      ),
    }),
    ...(passages.length && {
      "Passages of the prompt": createTable(
        "passages",
        { passage: passages.map(({ text }) => inlineText(text)), number: ["copied", "in all"] },
        of(passages),
      ),
    }),
  };
}
