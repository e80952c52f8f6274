// What the model says next, as bars: the whole vocabulary's probabilities, before and after every change.

function drawPredictions(self) {
  const panel = self.parts.predictions;
  const { predictions, changed, silent } = self.answer;
  if (silent) return panel.replaceChildren(make("h3", "", "No prediction"), make("p", "quiet", silent));
  refill(panel, ...predictions.map((prediction) => drawPrediction(self, prediction, changed, predictions.length)));
  if (changed) panel.append(keyToBars());
}

function drawPrediction(self, prediction, changed, count) {
  const block = make("section", "prediction");
  const title = make("h3", "", prediction.title);
  const where = make("p", "quiet", prediction.before);
  where.append(make("bdi", "token", spoken(prediction.piece)), make("span", "", ` (position ${prediction.position})`));
  const list = make("ol", changed ? "bars changed" : "bars");
  list.dataset.testid = `prediction-${prediction.position}`;
  const shown = prediction.candidates.slice(0, count > 1 ? 5 : 10);
  const largest = Math.max(...shown.flatMap((item) => [item.after, changed ? item.before : 0]), 1e-9);
  list.append(...shown.map((item) => drawCandidate(self, item, largest, changed)));
  block.append(title, where, list);
  return block;
}

function drawCandidate(self, item, largest, changed) {
  const row = make("li", "candidate");
  const name = make("button", "ask-about");
  name.type = "button";
  name.append(make("bdi", "token", visible(item.piece)));
  name.dataset.target = item.id;
  name.setAttribute("aria-pressed", String(self.choice.target === item.id));
  name.title = `Ask about ${visible(item.piece)} wherever one token is asked about: gradients, contributions`;
  name.onclick = () => change(self, { target: self.choice.target === item.id ? -1 : item.id });
  const track = make("span", "track");
  const bar = make("i", "bar");
  bar.style.width = `${(item.after / largest) * 100}%`;
  track.append(bar);
  const numbers = make("span", "number", percent(item.after));
  row.append(name, track, numbers);
  if (changed) {
    const ghost = make("i", "ghost");
    ghost.style.width = `${(item.before / largest) * 100}%`;
    track.prepend(ghost);
    row.append(difference(item.after - item.before));
  }
  const was = changed ? `, before ${percent(item.before)}` : "";
  row.setAttribute("aria-label", `${item.piece}: ${percent(item.after)}${was}`);
  row.title = `${visible(item.piece)}  ${item.after.toPrecision(4)}${changed ? `  (before ${item.before.toPrecision(4)})` : ""}`;
  return row;
}

/** The change in percentage points, with a sign that does not depend on colour. */
function difference(change) {
  const points = change * 100;
  const small = Math.abs(points) < 0.05;
  const sign = small ? "±" : points > 0 ? "▲" : "▼";
  return make("span", `difference ${small ? "" : points > 0 ? "up" : "down"}`, `${sign} ${Math.abs(points).toFixed(1)}`);
}

function keyToBars() {
  const key = make("p", "quiet key");
  key.append(make("i", "swatch before"), "as trained", make("i", "swatch after"), "with your changes", make("span", "points", "▲▼ in percentage points"));
  return key;
}

/** Marks the candidate that is asked about, where one was chosen. */
function markTarget(self) {
  for (const name of self.parts.predictions.querySelectorAll("[data-target]")) {
    name.setAttribute("aria-pressed", String(Number(name.dataset.target) === self.choice.target));
  }
}
