// Which heads are looked at, and which are switched off.

export function currentGrid(self) {
  const grids = self.answer?.grids || [];
  return grids.find((grid) => grid.name === self.choice.attention) || grids[0];
}

/** A link may name heads that this model has not; of the collected heads one is always the chosen one. */
export function clampHead(self, grid) {
  const { choice } = self;
  choice.layer = Math.min(choice.layer, grid.layers - 1);
  choice.head = Math.min(choice.head, grid.heads - 1);
  choice.heads = choice.heads.filter((name) => isHead(grid, parseHead(name)));
  if (choice.heads.length && !choice.heads.includes(headName([choice.layer, choice.head]))) [choice.layer, choice.head] = parseHead(choice.heads.at(-1));
}

function isHead(grid, [layer, head]) {
  return layer >= 0 && layer < grid.layers && head >= 0 && head < grid.heads; // false for what is no number
}

/** "2.3" for head 3 of layer 2, as State and the address have it. */
export function headName([layer, head]) {
  return `${layer}.${head}`;
}

export function parseHead(name) {
  return name.split(".").map(Number);
}

/** The collected heads; the chosen one alone where none are collected. */
export function selectedHeads(self) {
  const { heads, layer, head } = self.choice;
  return heads.length ? heads.map(parseHead) : [[layer, head]];
}

export function isSelected(self, layer, head) {
  return self.choice.heads.includes(headName([layer, head]));
}

/** Chooses a head; with `more` it joins the collected ones, or leaves them. */
export function selectHead(self, layer, head, more = false) {
  self.focus = null;
  if (!more) return self.change({ layer, head, heads: [] });
  const name = headName([layer, head]);
  const alone = headName([self.choice.layer, self.choice.head]);
  const before = self.choice.heads.length ? self.choice.heads : alone === name ? [] : [alone];
  const after = before.includes(name) ? before.filter((other) => other !== name) : [...before, name];
  const [newLayer, newHead] = parseHead(after.includes(name) ? name : after.at(-1) ?? name);
  self.focus = [layer, head];
  self.change({ layer: newLayer, head: newHead, heads: after });
}

/** Collects all heads of a layer, or lets go of them where they are all that is collected. */
export function selectLayer(self, layer) {
  const names = Array.from({ length: currentGrid(self).heads }, (_, head) => headName([layer, head]));
  const all = names.length === self.choice.heads.length && names.every((name) => self.choice.heads.includes(name));
  self.change({ layer, heads: all ? [] : names });
}

// Off is an edit: of one head, or of a layer where all its heads are off.

function headOffEdit(grid, layer, head) {
  return `${grid.stack}.${layer}.${grid.kind}.weights[${head}]=set:0`;
}

function layerOffEdit(grid, layer) {
  return `${grid.stack}.${layer}.${grid.kind}.weights=set:0`;
}

export function isOff(self, grid, layer, head) {
  return self.choice.edits.includes(headOffEdit(grid, layer, head)) || self.choice.edits.includes(layerOffEdit(grid, layer));
}

export function headsOff(self, grid, layer) {
  return Array.from({ length: grid.heads }, (_, head) => head).filter((head) => isOff(self, grid, layer, head));
}

/** Switches several heads off, or on again; all other edits keep their places. */
function switchHeads(self, heads, off) {
  const grid = currentGrid(self);
  let { edits } = self.choice;
  for (const layer of new Set(heads.map(([layer]) => layer))) {
    const mine = heads.filter(([other]) => other === layer).map(([, head]) => head);
    const others = headsOff(self, grid, layer).filter((head) => !mine.includes(head));
    const after = (off ? [...others, ...mine] : others).sort((a, b) => a - b);
    const whole = after.length === grid.heads && grid.heads > 1;
    const wanted = whole ? [layerOffEdit(grid, layer)] : after.map((head) => headOffEdit(grid, layer, head));
    const known = [layerOffEdit(grid, layer), ...Array.from({ length: grid.heads }, (_, head) => headOffEdit(grid, layer, head))];
    edits = edits.filter((edit) => !known.includes(edit) || wanted.includes(edit));
    edits = [...edits, ...wanted.filter((edit) => !edits.includes(edit))];
  }
  self.change({ edits });
}

/** Off where any of the heads is on, else on. */
export function toggleHeads(self, heads) {
  const grid = currentGrid(self);
  switchHeads(self, heads, heads.some(([layer, head]) => !isOff(self, grid, layer, head)));
}

export function layerHeads(grid, layer) {
  return Array.from({ length: grid.heads }, (_, head) => [layer, head]);
}
