// Candidates before and after the rule, the dice, and the knobs of the rule.

function drawNext(self) {
  const { parts } = self;
  const record = looked(self);
  parts.newest.hidden = self.at === null;
  const taken = self.at === null ? null : self.written[self.at];
  const end = ended(self);
  const gap = self.kind === "fill";
  if (!record || record.done || (end && self.at === null)) {
    parts.nextTitle.textContent = record ? "The end" : "…";
    parts.nextWhere.textContent = end;
    parts.candidates.replaceChildren();
    parts.dice.hidden = true;
    return;
  }
  parts.nextTitle.textContent = taken ? "What could have stood here" : gap ? "The surest mask" : "Next token";
  const before = gap ? null : textTokens(self)[record.place - 1];
  const where = gap ? [`at position ${record.place}`] : ["after ", ...quote(before), ` (position ${record.place - 1})`];
  const otherwise = drawnOtherwise(self, record) ? ` · drawn with temperature ${record.rule.temperature.toFixed(2)}` : "";
  parts.nextWhere.replaceChildren(...where, ` · entropy ${record.spread.toFixed(2)} bits${otherwise}`);
  parts.nextWhere.title = "How undecided the model is, over its whole vocabulary: 0 bits is sure, one more doubles the choice";
  drawCandidates(self, record, taken);
  drawDice(self, record);
}

function drawCandidates(self, record, taken) {
  const listed = record.candidates;
  const largest = Math.max(...listed.flatMap(({ before, after }) => [before, after]), 1e-9);
  const rows = listed.map((item) => candidate(self, record, item, largest, taken));
  refill(self.parts.candidates, ...rows);
}

/** One candidate, with two bars: its probability by the model, and its chance by the rule. */
function candidate(self, record, item, largest, taken) {
  const row = make("li", "candidate");
  const button = make("button", "takes-it");
  button.type = "button";
  const track = make("span", "track");
  const ghost = make("i", "ghost");
  const bar = make("i", "bar");
  ghost.style.width = `${(item.before / largest) * 100}%`;
  bar.style.width = `${(item.after / largest) * 100}%`;
  track.append(ghost, bar);
  const mark = taken?.id === item.id ? "taken" : item.id === record.chosen ? "⚄" : "";
  button.append(
    make("bdi", "token", visible(item.piece)),
    track,
    make("span", "number", item.after ? percent(item.after) : "cut"),
    make("span", "mark", mark),
  );
  button.classList.toggle("cut", !item.after);
  button.classList.toggle("chosen", item.id === (taken?.id ?? record.chosen));
  const dice = item.id === record.chosen ? ", chosen by the dice" : "";
  button.setAttribute("aria-label", `Take ${spoken(item.piece)}: ${percent(item.before)} by the model, ${percent(item.after)} by the rule${dice}`);
  button.title = `${visible(item.piece)}  probability ${item.before.toPrecision(4)}, chance by the rule ${item.after.toPrecision(4)}. Click to take it`;
  const index = self.at ?? self.written.length;
  button.onclick = () => {
    stop(self);
    take(self, index, { place: record.place, id: item.id, piece: item.piece });
  };
  button.onkeydown = (event) => walkCandidates(self, button, event);
  row.append(button);
  return row;
}

function walkCandidates(self, button, event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...self.parts.candidates.querySelectorAll("button")];
  const next = step && buttons[buttons.indexOf(button) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** The chances laid side by side, largest first, and the place that the dice show. */
function drawDice(self, record) {
  const [strip, words] = self.parts.dice.children;
  self.parts.dice.hidden = false;
  const sure = record.rule.temperature === 0;
  strip.hidden = sure;
  if (sure) {
    words.textContent = "Temperature 0: the likeliest token is taken, no dice are thrown.";
    return;
  }
  const width = self.parts.dice.clientWidth || 240;
  const style = styleOf(self.parts.root);
  const context = sheet(strip, width, 30);
  const kept = record.candidates.filter(({ after }) => after > 0).sort((a, b) => b.after - a.after || b.before - a.before);
  let left = 0;
  kept.slice(0, 12).forEach(({ id, after }, place) => {
    context.fillStyle = id === record.chosen ? style.beam : style.quiet;
    context.globalAlpha = id === record.chosen ? 1 : 0.5 - 0.03 * place;
    context.fillRect(left * width, 10, Math.max(after * width - 1, 0.5), 14);
    left += after;
  });
  context.globalAlpha = 0.12;
  context.fillStyle = style.ink;
  context.fillRect(left * width, 10, (1 - left) * width, 14);
  context.globalAlpha = 1;
  const at = record.number * width;
  context.fillStyle = style.ink;
  context.beginPath();
  context.moveTo(at - 5, 1);
  context.lineTo(at + 5, 1);
  context.lineTo(at, 9);
  context.fill();
  context.fillRect(at - 0.75, 8, 1.5, 20);
  const chosen = record.candidates.find(({ id }) => id === record.chosen);
  const many = record.kept === record.vocabulary ? `all ${record.vocabulary} tokens` : `${record.kept} of ${record.vocabulary} tokens`;
  words.replaceChildren(`The dice show ${record.number.toFixed(3)}: `, ...quote(chosen), ` (rank ${record.rank}). The rule leaves ${many}.`);
  strip.setAttribute("aria-label", `The dice show ${record.number.toFixed(3)} and hit ${spoken(chosen.piece)}`);
}

const KNOBS = [
  ["temperature", "temperature", (value) => (value ? value.toFixed(2) : "0: greedy")],
  ["topK", "top-k", (value) => (value ? String(value) : "all")],
  ["topP", "top-p", (value) => (value < 1 ? value.toFixed(2) : "all")],
];

function drawRule(self) {
  for (const [name, id, told] of KNOBS) {
    const input = self.parts.knobs[id];
    if (Number(input.value) !== self.rule[name]) input.value = self.rule[name];
    input.nextElementSibling.textContent = told(self.rule[name]);
    input.setAttribute("aria-valuetext", told(self.rule[name]));
  }
  const { seed } = self.parts.knobs;
  if (seed.value === "" || Number(seed.value) !== self.rule.seed) seed.value = self.rule.seed;
}

function listenRule(self) {
  const { knobs, reseed } = self.parts;
  for (const [name, id] of KNOBS) knobs[id].oninput = () => changeRule(self, { [name]: Number(knobs[id].value) });
  knobs.seed.onchange = () => {
    const seed = Math.floor(Number(knobs.seed.value));
    changeRule(self, { seed: seed >= 0 && seed <= Number.MAX_SAFE_INTEGER ? seed : 0 });
  };
  reseed.onclick = () => changeRule(self, { seed: (self.rule.seed + 1) % 1_000_000 });
}

/** Another rule: what was drawn stays as it was drawn, what comes next is drawn anew. */
async function changeRule(self, patch) {
  self.rule = { ...self.rule, ...patch };
  self.at = null;
  self.serial++;
  drawRule(self);
  settle(self);
  const turn = ++self.turn;
  try {
    const record = await fetchStep(self, self.written, { latest: true });
    if (turn === self.turn && record) answered(self);
  } catch (error) {
    if (turn === self.turn) troubled(self, error);
  }
}
