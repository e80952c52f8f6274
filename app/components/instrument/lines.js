// The chosen head as lines between two columns of tokens, and the sentence that says the same in words.

function measureLines(self, width) {
  const rows = Math.max(queryTokens(self).length, keyTokens(self).length);
  const step = Math.min(Math.max(400 / rows, 13), 30);
  return { rows, step, left: width * 0.34, right: width * 0.66, top: 26 };
}

function paintLines(self, width) {
  const sizes = measureLines(self, width);
  const context = sheet(self.parts.canvas, width, sizes.top + sizes.rows * sizes.step + 6);
  self.style = styleOf(self);
  self.map = null;
  self.lines = sizes;
  context.font = `600 11px ${self.style.font}`;
  context.fillStyle = self.style.quiet;
  context.textBaseline = "middle";
  nameColumn(context, self, queryTokens(self), sizes, "right", sizes.left - 8, "query");
  nameColumn(context, self, keyTokens(self), sizes, "left", sizes.right + 8, "key");
  const only = self.hovered?.query;
  queryTokens(self).forEach((_, query) => {
    const strong = only === undefined || only === null ? 1 : only === query ? 1 : 0.06;
    drawFan(context, self, sizes, query, strong);
  });
}

function nameColumn(context, self, tokens, sizes, align, x, title) {
  context.textAlign = align;
  context.font = `600 11px ${self.style.font}`;
  context.fillStyle = self.style.quiet;
  context.fillText(title, x, 10);
  context.font = `${sizes.step < 16 ? 10 : 12.5}px ${self.style.font}`;
  const hot = self.hovered?.query ?? queryPosition(self);
  tokens.forEach((token, row) => {
    context.fillStyle = title === "query" && row === hot ? self.style.ink : self.style.quiet;
    context.fillText(shorten(context, spoken(token.piece), sizes.left - 14), x, sizes.top + (row + 0.5) * sizes.step);
  });
}

function drawFan(context, self, sizes, query, strong) {
  const from = sizes.top + (query + 0.5) * sizes.step;
  const middle = (sizes.left + sizes.right) / 2;
  context.strokeStyle = self.style.beam;
  keyTokens(self).forEach((_, key) => {
    const weight = weightAt(self, query, key);
    if (!(weight > 0.01)) return;
    const to = sizes.top + (key + 0.5) * sizes.step;
    context.globalAlpha = Math.min(weight * 1.1, 1) * strong;
    context.lineWidth = 0.5 + 3.5 * weight;
    context.beginPath();
    context.moveTo(sizes.left, from);
    context.bezierCurveTo(middle, from, middle, to, sizes.right, to);
    context.stroke();
  });
  context.globalAlpha = 1;
}

function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value === 0) return "0 %";
  return value < 0.05 ? "<0.1 %" : `${value.toFixed(1)} %`;
}

/** The text that stands for the picture: what the query at hand looks at, or the one cell under the pointer. */
function describeHead(self) {
  const reading = self.parts.reading;
  const query = self.hovered?.query ?? queryPosition(self);
  const key = self.hovered?.key;
  const queries = queryTokens(self);
  const keys = keyTokens(self);
  const { layer, head } = self.choice;
  self.parts.canvas.setAttribute("aria-label", `Attention ${self.choice.view} of layer ${layer}, head ${head}`);
  if (key !== null && key !== undefined && keys[key]) {
    return reading.replaceChildren(...quote(queries[query]), " → ", ...quote(keys[key]), `  ${cellText(self, query, key)}`);
  }
  if (isOff(self, currentGrid(self), layer, head)) return reading.replaceChildren("This head is switched off: it moves nothing.");
  const ranked = keys
    .map((token, position) => ({ token, weight: weightAt(self, query, position) }))
    .filter((item) => item.weight > 0.005)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, 3);
  if (!ranked.length) return reading.replaceChildren(...quote(queries[query]), " looks at nothing here.");
  const told = ranked.flatMap(({ token, weight }, place) => [place ? ", " : " looks at ", ...quote(token), ` ${percent(weight)}`]);
  reading.replaceChildren(...quote(queries[query]), ...told);
}

/** A token in running text, kept apart from the direction of the words around it. */
function quote(token) {
  return [make("bdi", "token", spoken(token.piece))];
}

function cellText(self, query, key) {
  const exact = exactNumbers(self);
  const weight = weightAt(self, query, key);
  if (Number.isNaN(weight)) return "may not attend (mask)";
  if (self.choice.view !== "weights") return exact ? `score ${exact.numbers[query * exact.columns + key].toFixed(4)}` : "…";
  return exact ? `weight ${weight.toFixed(5)}` : `weight ≈ ${weight.toFixed(2)}`;
}
