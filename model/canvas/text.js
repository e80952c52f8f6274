// The text itself, each token shaded by what the queries at hand give it: for long texts and for reading aloud.

function drawText(self, view) {
  const { prose } = self.parts;
  if (self.prosed !== view) {
    self.prosed = view;
    const { queries, keys } = currentGrid(self);
    const same = sameAxes(self, view);
    const looked = paragraph(self, view.columns, keys, same ? "both" : "key");
    prose.replaceChildren(...(same ? [looked] : [part("Looking"), paragraph(self, view.rows, queries, "query"), part("Looked at"), looked]));
  }
  markText(self, view);
}

/** Whether rows and columns are the same tokens, so that one copy of the text serves both. */
function sameAxes(self, view) {
  const grid = currentGrid(self);
  return grid.queries === grid.keys && JSON.stringify(view.rows.tokens) === JSON.stringify(view.columns.tokens);
}

function part(title) {
  return make("h4", "", title);
}

function paragraph(self, axis, which, side) {
  const text = make("p", "running");
  text.dir = "auto";
  axis.names.forEach((name, line) => {
    const word = name.replace(/^ +(?=[^ ])/, "");
    const token = make("span", "word", visible(word));
    token.dataset.side = side;
    token.dataset.line = line;
    text.append(...(line && parted(self, axis, line, which) ? [" "] : []), token, ...(name.includes("\n") ? [make("br")] : []));
  });
  return text;
}

/** Whether white space stood before a token: in its own piece, or in the text after the token before. */
function parted(self, { names, tokens }, line, which) {
  const { question, tokens: ofText, sourceTokens } = self.answer;
  const [text, all] = which === "source" ? [question.source, sourceTokens] : [question.text, ofText];
  const [before, here] = [all[tokens[line - 1].at(-1)], all[tokens[line][0]]];
  return /^\s/.test(names[line]) || !before || !here || before.special || here.special || /\s/.test(text[before.end] ?? "");
}

/** Shades by the share of the largest sum, so that a long text's small weights can be told apart; the legend says it. */
function markText(self, view) {
  const rows = rowsAtHand(self, view);
  const sums = summed(view, rows);
  const column = hoveredColumn(self, view);
  const size = (sum) => (Number.isFinite(sum) ? Math.abs(view.scale === "linear" && !view.signed ? sum - view.low : sum) : 0);
  const most = Math.max(...sums.map(size), 1e-9);
  self.darkest = Math.max(...sums.map((sum) => (Number.isFinite(sum) ? (view.signed ? Math.abs(sum) : sum) : -Infinity)));
  for (const token of self.parts.prose.querySelectorAll(".word")) {
    const line = Number(token.dataset.line);
    const asks = token.dataset.side !== "key" && rows.includes(line);
    token.classList.toggle("query", asks);
    token.classList.toggle("locked", asks && view.rows.tokens[line].some((place) => self.choice.locked.includes(place)));
    if (token.dataset.side === "query") continue;
    token.style.setProperty("--shade", `${Math.round(Math.sqrt(size(sums[line]) / most) * 100)}%`);
    token.style.setProperty("--tint", view.signed && sums[line] < 0 ? BELOW : "var(--beam)");
    token.classList.toggle("faint", Number.isNaN(sums[line]));
    token.classList.toggle("key", line === column);
    token.title = numberText(view, sums[line]);
  }
}

/** Without a lock the pointer asks for a token's row; with one it asks what the locked row gives a token. */
function underText(self, event, click = false) {
  const token = event.target.closest(".word");
  if (!token) return null;
  const { side, line } = token.dataset;
  const here = tokensOf(self.shown, Number(line), Number(line));
  if (side === "key" || (side === "both" && self.choice.locked.length && !click)) return { query: null, key: here.key };
  return { query: here.query, key: null };
}
