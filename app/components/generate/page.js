// The text as it stands: prompt, written tokens to click, and other ways on.

/** A piece as a reader sees it: spaces are spaces, everything else invisible has a sign. */
function flowing(piece) {
  return piece.replace(/[^ ]+/g, visible).replace(/⏎/g, "⏎\n") || "∅";
}

/** The tokens of the text with what was written: { piece, special, step } with the step that wrote it, or null. */
function textTokens(self) {
  const tokens = self.prompt.map((token) => ({ ...token, step: null }));
  self.written.forEach(({ place, piece }, step) => {
    tokens[place] = { piece, special: false, step, gap: Boolean(tokens[place]?.gap) && !piece.startsWith(" ") };
  });
  return tokens;
}

function drawPage(self) {
  const tokens = textTokens(self);
  const parts = tokens.map((token, place) => pageToken(self, token, place));
  const record = newest(self);
  const open = record && !record.done && !ended(self);
  if (open && self.kind === "continue") parts.push(nextToken(self, record));
  refill(self.parts.page, ...parts);
  if (open && self.kind === "fill") parts[record.place]?.classList.add("asked");
  const { sourceText } = self.parts;
  sourceText.hidden = !self.sourceTokens;
  sourceText.replaceChildren(...(self.sourceTokens || []).map((token) => wordOf(token, "token-of-source")));
  shadePage(self);
  drawLines(self);
}

function wordOf(token, className) {
  const word = make("span", className, flowing(token.piece));
  word.classList.toggle("gap", token.gap);
  if (token.special) word.classList.add("special");
  return word;
}

function pageToken(self, token, place) {
  const maskable = self.kind === "fill" && token.step === null && !token.special;
  if (token.step === null && !maskable) {
    const word = wordOf(token, "word");
    whenPointed(word, () => pointAt(self, place), () => pointAt(self, null));
    return word;
  }
  const button = make("button", token.step === null ? "word" : "word written", flowing(token.piece));
  button.type = "button";
  button.classList.toggle("gap", token.gap);
  button.dataset.place = place;
  if (token.step !== null) {
    button.dataset.step = token.step;
    button.title = "Go back here: see what else could have stood here, and choose it";
    button.setAttribute("aria-pressed", String(self.at === token.step));
    button.onclick = () => lookAt(self, self.at === token.step ? null : token.step);
  } else {
    button.title = "Click to mask this word";
    button.onclick = () => maskWord(self, place);
  }
  button.tabIndex = token.step === (self.at ?? self.written.length - 1) || (token.step === null && place === 1) ? 0 : -1;
  button.onkeydown = (event) => walkPage(self, button, event);
  whenPointed(button, () => pointAt(self, place), () => pointAt(self, null));
  return button;
}

/** The token that the dice have chosen and nobody has taken yet. */
function nextToken(self, record) {
  const chosen = record.candidates.find(({ id }) => id === record.chosen);
  const button = make("button", "word ahead", flowing(chosen.piece));
  button.type = "button";
  button.dataset.testid = "ahead";
  button.title = "What the dice chose: click to take it";
  button.setAttribute("aria-label", `Take ${spoken(chosen.piece)}`);
  button.onclick = () => stepOn(self);
  return button;
}

function walkPage(self, button, event) {
  const words = [...self.parts.page.querySelectorAll("button")];
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const next = step && words[words.indexOf(button) + step];
  if (event.key === "Escape") lookAt(self, null);
  if (!next) return;
  event.preventDefault();
  button.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** Looks at a step that is past, or at the next one. */
async function lookAt(self, step) {
  stop(self);
  self.at = step;
  const turn = ++self.turn;
  draw(self);
  if (step === null) return;
  if (!looked(self)) {
    try {
      await fetchStep(self, self.written.slice(0, step));
    } catch (error) {
      return troubled(self, error);
    }
  }
  if (turn !== self.turn) return;
  draw(self);
  self.parts.page.querySelector(`[data-step="${step}"]`)?.focus({ preventScroll: true });
}

function maskWord(self, place) {
  const others = self.choice.masked.filter((other) => other !== place);
  const masked = others.length < self.choice.masked.length ? others : [...others, place].sort((a, b) => a - b);
  change(self, { masked });
}

/** Shades every word by what the step at hand looked at. */
function shadePage(self) {
  const record = looked(self);
  const grid = record && !record.done ? gridOf(self, record) : null;
  const words = [...self.parts.page.children];
  const sources = [...self.parts.sourceText.children];
  for (const word of [...words, ...sources]) word.style.removeProperty("--shade");
  if (!grid) return;
  const row = rowOf(self, record, grid);
  const keys = grid.keys === "source" ? sources : words;
  row.forEach((weight, key) => {
    if (weight > 0 && keys[key]) keys[key].style.setProperty("--shade", `${Math.round(Math.sqrt(weight) * 85)}%`);
  });
}

/** The pointer is at a token: its weight is told, and marked on the map. */
function pointAt(self, key) {
  if (self.key === key) return;
  self.key = key;
  paintLooks(self);
}

function drawLines(self) {
  const lines = otherLines(self);
  self.parts.lines.hidden = !lines.length;
  const buttons = lines.map((line) => {
    const text = line.written.slice(line.from).map(({ piece }) => flowing(piece)).join("").replace(/\s+/g, " ").trim();
    const before = line.written[line.from - 1];
    const lead = before && /\p{L}/u.test(before.piece) ? `${spoken(before.piece)} ` : "";
    const button = make("button", "pill", "");
    button.type = "button";
    const told = text.length > 60 ? `${text.slice(0, 59)}…` : text;
    button.append(make("span", "quiet", self.kind === "fill" ? "" : `…${lead}`), make("bdi", "", told));
    button.title = "Go on with this text instead";
    button.onclick = () => changeLine(self, line);
    return button;
  });
  refill(self.parts.lines, make("h3", "", "Other ways on"), ...buttons);
}
