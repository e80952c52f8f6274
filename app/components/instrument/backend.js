// What the instrument asks the server itself, past Streamlit: one packed answer per question.

/** An answer is a length, that much JSON, and raw numbers that begin at the next multiple of four. */
function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { meta, start: Math.ceil((4 + length) / 4) * 4, buffer };
}

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

/** The question that the numbers on the screen answer: what was typed, and how the model is wired. */
function question(self) {
  const { text, source, edits, masked, query } = self.choice;
  return { ...self.settings, text, source, edits, masked, query };
}

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
    self.answer = { ...meta, bytes: new Uint8Array(buffer, start), exact: new Map() };
    showAnswer(self);
  } catch (error) {
    if (error.name === "AbortError" || number !== self.number) return;
    self.answered = number;
    const lost = error instanceof TypeError;
    showProblem(self, lost ? "The server does not answer. Is Headlight still running?" : error.message);
  } finally {
    if (number === self.number) self.parts.root.classList.remove("waiting");
  }
}

/** Fetches the exact numbers of the chosen head once, and repaints when they are here. */
async function fetchExact(self) {
  const answer = self.answer;
  const { layer, head, view } = self.choice;
  const grid = currentGrid(self);
  if (!answer || !grid) return;
  const path = `${grid.stack}.${layer}.${grid.kind}.${view}`;
  const key = `${path}[${head}]`;
  if (answer.exact.has(key)) return;
  answer.exact.set(key, null);
  try {
    const { meta, start, buffer } = await post(self, "values", { ...answer.question, path, head });
    if (meta.error) return answer.exact.delete(key);
    answer.exact.set(key, { numbers: new Float32Array(buffer, start), rows: meta.rows, columns: meta.columns });
    if (answer === self.answer) paintHead(self);
  } catch {
    answer.exact.delete(key);
  }
}

function exactNumbers(self) {
  const { layer, head, view } = self.choice;
  const grid = currentGrid(self);
  return self.answer.exact.get(`${grid.stack}.${layer}.${grid.kind}.${view}[${head}]`) || null;
}
