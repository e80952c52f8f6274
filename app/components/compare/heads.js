// All heads of both sides, how far each is from its partner, and those that differ most.

const RANKED = 6;

function drawHeads(self) {
  const here = attentionHere(self);
  const { parts } = self;
  parts.kinds.hidden = self.answer.attentions.length < 2;
  if (!here) {
    parts.hint.textContent = "These two have no attention in common that could be compared.";
    return;
  }
  const options = self.answer.attentions.map(({ name, title }) => [name, title]);
  drawChoices(self, parts.kinds, "attention", options, here.name);
  here.grids.forEach((grid, side) => drawSideGrid(self, here, grid, side));
  drawApart(self, here);
  const [layers, heads] = [here.distance.length, here.distance[0]?.length || 0];
  const same = here.grids.every((grid) => grid.layers === layers && grid.heads === heads);
  parts.hint.textContent = same ? "" : `Only the ${layers} × ${heads} heads that both have are compared.`;
}

function drawSideGrid(self, here, grid, side) {
  const table = self.parts.grids[side];
  layTable(table, grid, () => [make("canvas")], (layer, head) => chooseHead(self, side, layer, head));
  const chosen = headOf(self, side, here.grids);
  const fresh = self.painted[side] !== self.answer || table.dataset.painted !== grid.name;
  eachHead(table, grid, (cell, layer, head) => {
    if (fresh) paintCodes(cell.firstChild, sideCodes(self, grid, layer, head), ...grid.cells);
    const off = self.answer.questions[side].edits.includes(offEditOf(grid, { layer, head }));
    cell.classList.toggle("off", off);
    markCell(cell, `${"AB"[side]}: layer ${layer}, head ${head}${off ? ", off" : ""}`, layer === chosen.layer && head === chosen.head);
  });
  self.painted[side] = self.answer;
  table.dataset.painted = grid.name;
}

/** The map of distances, and the list that begins with the largest. */
function drawApart(self, here) {
  const table = self.parts.apart;
  const [layers, heads] = [here.distance.length, here.distance[0]?.length || 0];
  const most = Math.max(...here.distance.flat().map((number) => number ?? 0), 1e-6);
  layTable(table, { name: here.name, layers, heads }, () => [], (layer, head) => chooseHead(self, null, layer, head));
  const chosen = headOf(self, 0, here.grids);
  eachHead(table, { layers, heads }, (cell, layer, head) => {
    const number = here.distance[layer][head];
    cell.style.background = number === null ? "none" : `rgb(${colour(number / most).join(" ")})`;
    const told = number === null ? "nothing to compare" : number.toFixed(3);
    markCell(cell, `Layer ${layer}, head ${head}: ${told}`, layer === chosen.layer && head === chosen.head);
  });
  self.parts.apartMost.textContent = most < 1e-5 ? "0: alike everywhere" : most.toFixed(2);
  const ranked = here.distance
    .flatMap((row, layer) => row.map((number, head) => ({ layer, head, number })))
    .filter(({ number }) => number !== null && number > 1e-5)
    .sort((a, b) => b.number - a.number)
    .slice(0, RANKED);
  const buttons = ranked.map(({ layer, head, number }) => {
    const button = make("button", "pill", `layer ${layer}, head ${head}`);
    button.type = "button";
    button.append(" ", make("i", "", number.toFixed(2)));
    button.setAttribute("aria-pressed", String(layer === chosen.layer && head === chosen.head));
    button.onclick = () => chooseHead(self, null, layer, head);
    return button;
  });
  const words = ranked.length ? "They differ most in" : "No head looks elsewhere on the two sides.";
  refill(self.parts.ranked, make("span", "quiet", words), ...buttons);
}

function offEditOf(grid, { layer, head }) {
  return `${grid.stack}.${layer}.${grid.kind}.weights[${head}]=set:0`;
}

/** Turns the chosen head of one side off or on. What is off in A is off in B too, unless B has changes of its own. */
function drawSwitch(self, side, grid, place) {
  const button = self.parts.switches[side];
  const edit = offEditOf(grid, place);
  const edits = (side ? questionB(self) : questionA(self)).edits;
  const off = edits.includes(edit);
  button.setAttribute("aria-checked", String(!off));
  button.setAttribute("aria-label", `Head ${place.head} of layer ${place.layer} on side ${"AB"[side]}`);
  button.lastElementChild.textContent = off ? "off" : "on";
  button.onclick = () => {
    const now = off ? edits.filter((other) => other !== edit) : [...edits, edit];
    changeBoth(self, side ? {} : { edits: now }, side ? { ...self.other, edits: now } : self.other);
  };
}

/** Chooses a head on one side, or (side null, or linked) on both. From then on nobody else chooses. */
function chooseHead(self, side, layer, head) {
  const other = { ...self.other, chosen: "1" };
  if (!linked(self) && side !== 0) Object.assign(other, { layer, head });
  changeBoth(self, linked(self) || side !== 1 ? { layer, head } : {}, other, false);
}

/** While nobody has chosen a head it is the one that differs most. */
function followMost(self) {
  const here = attentionHere(self);
  if (!here || self.other.chosen || !linked(self) || !self.follows) return;
  const most = { layer: 0, head: 0, number: -1 };
  here.distance.forEach((row, layer) => row.forEach((number, head) => (number ?? -1) > most.number && Object.assign(most, { layer, head, number })));
  Object.assign(self.choice, { layer: most.layer, head: most.head });
}
