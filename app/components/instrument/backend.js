// What the instrument asks the server itself, past Streamlit: one packed answer per question.

async function post(self, route, body, signal) {
  const answer = await fetch(`${self.api}/${route}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!(answer.headers.get("Content-Type") || "").includes("octet-stream")) {
    throw new Error("The server gave no answer that this page can read. Reload the page.");
  }
  return unpack(await answer.arrayBuffer());
}

// What the model is asked: what was typed, how it is wired, what is changed, and where an answer is wanted.
const ASKED = ["text", "source", "image", "masks", "position", "kernel", "scale", "edits", "masked", "query"];

function question(self) {
  return { ...self.settings, ...Object.fromEntries(ASKED.map((name) => [name, self.choice[name]])) };
}

const SOON = 50; // milliseconds in which an answer that came late is on the screen

/** Asks for everything that depends on the model; the newest question wins. */
async function ask(self) {
  self.asking?.abort();
  const asking = (self.asking = new AbortController());
  const number = ++self.number;
  self.parts.root.classList.add("waiting");
  try {
    const body = { ...question(self), visitor: self.visitor, number };
    const { meta, start, buffer } = await post(self, "trace", body, asking.signal);
    if (number !== self.number || meta.superseded) return;
    self.answered = number;
    if (meta.error) return showProblem(self, meta.error);
    self.answer = { ...meta, bytes: new Uint8Array(buffer, start), details: new Map() };
    showAnswer(self);
  } catch (error) {
    if (error.name === "AbortError" || number !== self.number) return;
    self.answered = number;
    const lost = error instanceof TypeError;
    showProblem(self, lost ? "The server does not answer. Is Headlight still running?" : error.message);
  } finally {
    if (number === self.number) {
      self.parts.root.classList.remove("waiting");
      if (self.held) reportIn(self, SOON);
    }
  }
}

const REMEMBERED = 48; // answers to questions about one text

/**
 * What a route says about the question on the screen: { meta, numbers }, or null until it is here; the open room is
 * drawn again when it comes. It is asked after `wait` milliseconds, and not at all if by then nobody wants it any more.
 */
function wanted(self, route, details, wait = 0) {
  const { answer } = self;
  const key = `${route} ${JSON.stringify(details)}`;
  const known = answer.details.get(key);
  if (known) {
    known.serial = self.serial;
    return known.found;
  }
  const entry = { found: null, serial: self.serial };
  answer.details.set(key, entry);
  if (answer.details.size > REMEMBERED) answer.details.delete(answer.details.keys().next().value);
  setTimeout(() => fetchDetails(self, answer, route, details, key), wait);
  return null;
}

async function fetchDetails(self, answer, route, details, key) {
  const entry = answer.details.get(key);
  if (!entry || answer !== self.answer) return;
  if (entry.serial !== self.serial) return answer.details.delete(key);
  try {
    const { meta, start, buffer } = await post(self, route, { ...answer.question, ...details });
    entry.found = { meta, numbers: meta.error ? new Float32Array() : floats(buffer, start) };
    if (answer === self.answer) drawRoom(self);
  } catch {
    answer.details.delete(key); // asked again with the next change
  }
}
