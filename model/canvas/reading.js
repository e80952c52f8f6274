// The sentence that says in words what the picture shows.

/** What the queries at hand look at, or the one cell, or the one key, under the pointer. */
function describe(self, view) {
  const { reading, canvas } = self.parts;
  const rows = rowsAtHand(self, view);
  const column = hoveredColumn(self, view);
  const alone = self.hovered?.query === null && column !== undefined && !self.choice.locked.length;
  canvas.setAttribute("aria-label", `${self.parts.title.textContent}: ${view.said.join(", ")}`);
  const heads = chosenHeads(self);
  const grid = currentGrid(self);
  if (view.kind.name === "weights" && heads.every((one) => isOff(self, grid, ...one))) {
    return reading.replaceChildren(heads.length > 1 ? "These heads are switched off: they move nothing." : "This head is switched off: it moves nothing.");
  }
  if (!rows.length) return reading.replaceChildren(...quote(queryTokens(self)[queriesAtHand(self)[0]]), " is hidden here.");
  if (alone) return reading.replaceChildren(...lookers(view, column));
  if (column !== undefined) return reading.replaceChildren(...cellTold(view, rows, column));
  reading.replaceChildren(...looked(view, rows));
}

function quoted(names) {
  return names.flatMap((name, place) => [place ? " + " : "", ...quote({ piece: name })]);
}

function cellTold(view, rows, column) {
  const told = rows.length > 1 ? numberText(view, summed(view, rows)[column]) : cellText(view, rows[0], column);
  return [...quoted(rows.map((row) => view.rows.names[row])), " → ", ...quote({ piece: view.columns.names[column] }), `  ${told}`];
}

function cellText(view, row, column) {
  const state = stateAt(view, row, column);
  const number = numberAt(view, row, column);
  if (state === FORBIDDEN) return "may not attend (mask)";
  const name = view.kind.name === "weights" ? "weight " : view.kind.name === "scores" || view.kind.name === "masked" ? "score " : "";
  return `${name}${numberText(view, number)}${state === LEFT_OUT ? " (left out: too small)" : ""}`;
}

/** The three that matter most, with their names. */
function ranked(view, numbers, names) {
  const size = (number) => (view.signed ? Math.abs(number) : number);
  return numbers
    .map((number, line) => ({ name: names[line], number }))
    .filter(({ number }) => strengthOf(view, number) > 0.005)
    .sort((one, other) => size(other.number) - size(one.number))
    .slice(0, 3);
}

function told(view, list) {
  const number = (value) => (view.scale === "share" ? percent(value) : shortly(view, value));
  return list.flatMap((item, place) => [place ? ", " : " ", ...quote({ piece: item.name }), ` ${number(item.number)}`]);
}

/** Two digits and a sign, for running text. */
function shortly(view, number) {
  return `${view.exact ? "" : "≈ "}${number < 0 ? "−" : view.signed ? "+" : ""}${Number(Math.abs(number).toPrecision(2))}`;
}

function looked(view, rows) {
  const list = ranked(view, summed(view, rows), view.columns.names);
  const who = quoted(rows.map((row) => view.rows.names[row]));
  const several = rows.length > 1;
  if (!list.length) return [...who, several ? " look at nothing here." : " looks at nothing here."];
  const verb = view.scale === "share" ? (several ? " look at" : " looks at") : ": most at";
  return [...who, verb, ...told(view, list), several ? ` (${rows.length} tokens, summed)` : ""];
}

function lookers(view, column) {
  const numbers = view.rows.names.map((_, row) => (stateAt(view, row, column) === SHOWN ? numberAt(view, row, column) : NaN));
  const list = ranked(view, numbers, view.rows.names);
  const key = quote({ piece: view.columns.names[column] });
  return list.length ? [...key, " is looked at by", ...told(view, list)] : ["Nobody looks at ", ...key, "."];
}
