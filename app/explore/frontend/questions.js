// What the instrument asks the server itself, past Streamlit: one packed answer per question.

import { readFloats } from "../../../model/rendering/static/ui/wire.js";
import { failureText, post } from "../../ui/frontend/server.js";
import { showAnswer, showProblem } from "./main.js";

// What the model is asked: what was typed, how it is wired, what is changed, and where an answer is wanted.
export const MODEL_FIELDS = ["text", "source", "image", "masks", "position", "kernel", "scale", "edits", "masked", "query"];

function modelQuestion(self) {
  return { ...self.settings, ...Object.fromEntries(MODEL_FIELDS.map((name) => [name, self.choice[name]])) };
}

/** Asks for everything that depends on the model; the newest question wins. */
export async function ask(self) {
  self.asking?.abort();
  const asking = (self.asking = new AbortController());
  const number = ++self.number;
  self.parts.root.classList.add("waiting");
  try {
    const body = { ...modelQuestion(self), visitor: self.visitor, number };
    const { meta, start, buffer } = await post(self.api, "trace", body, asking.signal);
    if (number !== self.number || meta.superseded) return;
    self.answered = number;
    if (meta.error) return showProblem(self, meta.error);
    self.answer = { ...meta, bytes: new Uint8Array(buffer, start), details: new Map() };
    showAnswer(self);
  } catch (error) {
    if (error.name === "AbortError" || number !== self.number) return;
    self.answered = number;
    showProblem(self, failureText(error));
  } finally {
    if (number === self.number) {
      self.parts.root.classList.remove("waiting");
      self.reporter.idle();
    }
  }
}

const CACHE_SIZE = 48; // answers to questions about one text

/**
 * What a route says about the question on the screen: { meta, numbers }, or null until it is here; the open room is
 * drawn again when it comes. It is asked after `wait` milliseconds, and not at all if by then nobody wants it any more.
 */
export function answerTo(self, route, details, wait = 0) {
  const { answer } = self;
  const key = `${route} ${JSON.stringify(details)}`;
  const known = answer.details.get(key);
  if (known) {
    known.serial = self.reporter.serial;
    return known.found;
  }
  const entry = { found: null, serial: self.reporter.serial };
  answer.details.set(key, entry);
  if (answer.details.size > CACHE_SIZE) answer.details.delete(answer.details.keys().next().value);
  setTimeout(() => fetchDetails(self, answer, route, details, key), wait);
  return null;
}

async function fetchDetails(self, answer, route, details, key) {
  const entry = answer.details.get(key);
  if (!entry || answer !== self.answer) return;
  if (entry.serial !== self.reporter.serial) return answer.details.delete(key);
  try {
    const { meta, start, buffer } = await post(self.api, route, { ...answer.question, ...details });
    entry.found = { meta, numbers: meta.error ? new Float32Array() : readFloats(buffer, start) };
    if (answer === self.answer) self.redraw();
  } catch {
    answer.details.delete(key); // asked again with the next change
  }
}
