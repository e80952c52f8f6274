// What both sides predict, over everything that both can say, with the difference.

function drawAnswers(self) {
  const panel = self.parts.predictions;
  const { predictions } = self.answer;
  if (!predictions.length) return panel.replaceChildren(make("h3", "", "No prediction"), make("p", "quiet", "One of the two ends without a head."));
  const blocks = predictions.map((prediction) => answerBlock(self, prediction));
  const key = make("p", "quiet key");
  key.append(make("i", "swatch before"), "A", make("i", "swatch after"), "B", make("span", "", " · shares of everything that either can say"));
  refill(panel, ...blocks, key);
}

function answerBlock(self, { titles, places, pieces, apart, candidates }) {
  const block = make("section", "prediction");
  const title = make("h3", "", titles[0] === titles[1] ? titles[0] : titles.join(" / "));
  const where = make("p", "quiet", "");
  titles.forEach((name, side) => {
    const piece = { piece: pieces[side] };
    where.append(`${side ? " · " : ""}${"AB"[side]}: ${name === "Next token" ? "after" : "at"} `, ...quote(piece), ` (position ${places[side]})`);
  });
  where.append(` · Jensen–Shannon distance ${apart.toFixed(3)}`);
  const list = make("ol", "bars changed pairs");
  list.dataset.testid = `prediction-${places[0]}`;
  const largest = Math.max(...candidates.flatMap(({ before, after }) => [before || 0, after || 0]), 1e-9);
  list.append(...candidates.map((item) => answerRow(item, largest)));
  block.append(title, where, list);
  return block;
}

function answerRow({ piece, before, after }, largest) {
  const row = make("li", "candidate");
  const track = make("span", "track");
  for (const [share, name] of [[before, "ghost"], [after, "bar"]]) {
    const bar = make("i", name);
    bar.style.width = `${((share || 0) / largest) * 100}%`;
    if (share === null) bar.style.display = "none";
    track.append(bar);
  }
  const number = (share) => make("span", "number", share === null ? "cannot" : percent(share));
  row.append(make("bdi", "token", visible(piece)), track, number(before), number(after), changeOf(before, after));
  const told = [before, after].map((share, side) => `${"AB"[side]} ${share === null ? "cannot say it" : percent(share)}`);
  row.setAttribute("aria-label", `${spoken(piece)}: ${told.join(", ")}`);
  row.title = `${visible(piece)}  ${told.join(", ")}`;
  return row;
}

/** The change from A to B in percentage points, with a sign that does not depend on colour. */
function changeOf(before, after) {
  if (before === null || after === null) return make("span", "difference", "");
  const points = (after - before) * 100;
  const small = Math.abs(points) < 0.05;
  return make("span", `difference ${small ? "" : points > 0 ? "up" : "down"}`, `${small ? "±" : points > 0 ? "▲" : "▼"} ${Math.abs(points).toFixed(1)}`);
}
