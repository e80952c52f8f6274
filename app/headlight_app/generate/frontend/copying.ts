// Where a generated token comes from: the heads that copied it or suppressed it, and the passages of the prompt.

import { createButton, quotedToken } from "../../ui/frontend/dom/dom.ts";
import type { Api } from "../../ui/frontend/server.ts";
import { askRoute, backendOf } from "../../ui/frontend/server.ts";
import { RowsPlace } from "../../ui/frontend/views/rows.ts";
import type { Picks, VerdictView, ViewRow } from "../../ui/frontend/views/types.ts";
import type { GenerateElements } from "./elements.ts";
import type { Generator } from "./generator.ts";
import { questionOf } from "./server.ts";
import type { CopyingAnswer, CopyingRequest, GenerateState } from "./types.ts";

type Found = { meta: CopyingAnswer | null; problem: string };
type Deleted = { passage: string; answer: string; before: string; after: string };

const PAUSE = 300; // milliseconds on a step before the request
const KEPT = 64; // answers

export class CopyingView {
  #elements;
  #generator;
  #events;
  #words;
  #rows;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Answers by request. */
  #known: Map<string, Found> = new Map();
  #key = "";
  /** The last deleted passage, the answer before, and the prompt with and without it. */
  #deleted: Deleted = { passage: "", answer: "", before: "", after: "" };

  constructor(
    elements: GenerateElements,
    generator: Generator,
    events: {
      api: Api;
      redraw: () => void;
      choose: (layer: number, head: number) => void;
      prompt: (text: string) => void;
    },
  ) {
    this.#elements = elements;
    this.#generator = generator;
    this.#events = events;
    this.#words = new RowsPlace(elements.copiedWords);
    this.#rows = new RowsPlace(elements.copiedRows);
  }

  /** The displayed answer. */
  get shown(): CopyingAnswer | null {
    return this.#known.get(this.#key)?.meta ?? null;
  }

  draw(state: GenerateState) {
    if (!backendOf(this.#events.api).answers("copying")) return;
    const request = this.#request(state);
    clearTimeout(this.#timer);
    this.#key = JSON.stringify(request);
    const found = this.#known.get(this.#key);
    const { copied } = this.#elements;
    copied.ariaBusy = String(request !== null && !found);
    copied.hidden = !request || (!found && copied.hidden);
    if (found) this.#show(found, state);
    else if (request && !this.#generator.playing) this.#timer = setTimeout(() => this.#ask(request, this.#key), PAUSE);
  }

  end() {
    clearTimeout(this.#timer);
  }

  /** The request for the displayed token, or the next one. */
  #request(state: GenerateState): CopyingRequest | null {
    const { record, taken, generated, step } = this.#generator;
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

  #show({ meta, problem }: Found, { choice }: GenerateState) {
    const { copiedProof, copied } = this.#elements;
    copied.hidden = false;
    const [words, ...rows] = meta ? rowsOf(meta) : [problemRow(problem)];
    const chosen = choice.blend === "head" ? [choice.layer, choice.head] : [];
    this.#words.draw([words]);
    this.#rows.draw(rows.filter(isCompared), this.#picks(meta?.text ?? "", choice.text, chosen), [choice.text, chosen]);
    copiedProof.hidden = choice.text !== this.#deleted.after || !meta;
    if (meta && !copiedProof.hidden) copiedProof.replaceChildren(...this.#proof(meta));
  }

  /** A click chooses a head, or deletes a passage of the prompt. @param answer the token */
  #picks(answer: string, prompt: string, [layer, head]: number[]): Picks {
    return {
      choose: (pick) => {
        if ("head" in pick) return this.#events.choose(Number(pick.layer), Number(pick.head));
        this.#deleted = { passage: String(pick.passage), answer, before: prompt, after: String(pick.text) };
        this.#events.prompt(this.#deleted.after);
      },
      isChosen: (pick) => "head" in pick && pick.layer === layer && pick.head === head,
    };
  }

  /** The effect of the deletion on the answer. */
  #proof({ text }: CopyingAnswer): (Node | string)[] {
    const { passage, answer, before } = this.#deleted;
    const [was, is] = [quotedToken({ text: answer }), quotedToken({ text })];
    const words = text === answer ? ["the answer stays ", is] : ["the answer is ", is, " and no longer ", was];
    const back = createButton("act", "Put it back", "passage-back", () => this.#events.prompt(before));
    return ["Without ", quotedToken({ text: passage }), " ", ...words, ". ", back];
  }
}

/** Its rows of views, which are JSON for the server. */
export function rowsOf({ rows }: CopyingAnswer) {
  return rows as unknown as ViewRow[];
}

/** Why there is no answer. It may quote the visitor, so it is no text that is read for names of formulas. */
function problemRow(text: string): ViewRow {
  const said: VerdictView = { kind: "verdict", title: "", note: "", before: "", tables: null, text, good: null };
  return { title: "Where it comes from", text: "", views: [said], folded: false };
}

/** Whether the page shows a row: a single passage is compared with no other, so its bars are only exported. */
function isCompared({ views }: ViewRow) {
  return !views.some((view) => view.kind === "bars" && view.labels.length < 2);
}
