// The worker of a live page: opens the model of the file, and answers questions about it, so that typing never stalls.

import { inflate, pack } from "../../../ui/frontend/wire.ts";
import { openAnswers } from "../answers/answers.ts";
import type { ModelFacts, Reply } from "../answers/types.ts";
import { openEngine } from "../engine/engine.ts";
import type { PlanFile } from "../engine/types.ts";
import { openTokenizer } from "../tokenizer/tokenizer.ts";
import type { TokenizerFile } from "../tokenizer/types.ts";
import type { FromWorker, OpenModel, ToWorker } from "./types.ts";

/** What Python writes of a model besides its weights. */
interface ModelFile {
  plan: PlanFile;
  tokenizer: TokenizerFile;
  facts: ModelFacts;
}

const opened: { answer: ((route: string, request: unknown) => Reply) | null } = { answer: null };

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  if ("open" in data) return tell(await open(data.open));
  const told = answer(data.ask.route, data.ask.body);
  tell(told, "answer" in told ? [told.answer] : []);
};

function tell(message: FromWorker, transfer: Transferable[] = []) {
  self.postMessage(message, { transfer });
}

async function open({ model, weights }: OpenModel): Promise<FromWorker> {
  try {
    const { plan, tokenizer, facts }: ModelFile = JSON.parse(new TextDecoder().decode(await inflate(model)));
    const engine = await openEngine(plan, (await inflate(weights)).buffer);
    opened.answer = openAnswers({ engine, tokenizer: openTokenizer(tokenizer), facts });
    return { opened: true };
  } catch (error) {
    return { closed: sentenceOf(error) };
  }
}

function answer(route: string, body: unknown): FromWorker {
  try {
    if (!opened.answer) throw new Error("The model of this page is not open.");
    const { meta, numbers } = opened.answer(route, body);
    return { answer: pack(meta, numbers) };
  } catch (error) {
    return { problem: sentenceOf(error) };
  }
}

function sentenceOf(error: unknown) {
  if (error instanceof RangeError)
    return "This device has too little memory for this. Close other pages, or shorten the text.";
  return error instanceof Error ? error.message : String(error);
}
