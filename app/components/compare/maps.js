// The chosen head of both sides, large, and their difference where tokens correspond; the pointer marks all three.

function drawMaps(self) {
  const here = attentionHere(self);
  self.parts.mapsPanel.hidden = !here;
  if (!here) return;
  const heads = [0, 1].map((side) => headOf(self, side, here.grids));
  const [one, other] = heads;
  const same = one.layer === other.layer && one.head === other.head;
  self.parts.headTitle.textContent = same ? `Layer ${one.layer} · Head ${one.head}` : "Two heads";
  self.parts.linked.checked = linked(self);
  heads.forEach(({ layer, head }, side) => {
    self.parts.mapTitles[side].textContent = `${"AB"[side]}${same ? "" : ` · layer ${layer}, head ${head}`}`;
    drawSwitch(self, side, here.grids[side], { layer, head });
  });
  drawChoices(self, self.parts.align, "align", [["tokens", "Match tokens"], ["position", "Match positions"]], wished(self).align);
  self.shown = { here, heads, images: [0, 1].map((side) => sideImage(self, side, here.grids[side], heads[side])), difference: differenceOf(self, here, heads) };
  paintMaps(self);
  wantExact(self);
}

/** Lets the eye follow: only frames and words change. */
function paintMaps(self) {
  const { here, images, difference } = self.shown || {};
  if (!here) return;
  const places = hotPlaces(self, here.grids);
  const style = styleOf(self.parts.root);
  here.grids.forEach((grid, side) => {
    const [queries, keys] = [sideTokens(self, side, grid.queries), sideTokens(self, side, grid.keys)];
    self.maps[side] = paintOne(self, self.parts.maps[side], { queries, keys, image: images[side] }, places[side], style);
  });
  const place = { query: pairOf(difference.queries, places), key: pairOf(difference.keys, places, "key") };
  const { queries, keys } = difference;
  const named = (pairs, axis) => pairs.map((pair) => ({ piece: bothPieces(self, axis, pair) }));
  const axes = { queries: named(queries, here.grids[0].queries), keys: named(keys, here.grids[0].keys) };
  const drawable = queries.length && keys.length;
  self.maps[2] = drawable ? paintOne(self, self.parts.maps[2], { ...axes, image: difference.image, ground: true }, place, style) : null;
  if (!drawable) sheet(self.parts.maps[2], 1, 1);
  drawRange(self, difference);
  shadeSides(self, places);
  describeMaps(self, places);
}

function paintOne(self, canvas, picture, hot, style) {
  const width = canvas.parentElement.clientWidth;
  if (!width) return null;
  const rows = hot.query === null ? [] : [hot.query];
  return drawMap(canvas, width, { ...picture, alpha: 1, hot, rows, style });
}

function sideImage(self, side, grid, { layer, head }) {
  const canvas = (self.images[side] ??= document.createElement("canvas"));
  if (!exactOf(self, side, grid, layer, head)) {
    paintCodes(canvas, sideCodes(self, grid, layer, head), ...grid.cells);
    return canvas;
  }
  const codes = new Uint8Array(grid.rows * grid.columns);
  for (let cell = 0; cell < codes.length; cell++) {
    const weight = sideWeight(self, side, grid, { layer, head }, Math.floor(cell / grid.columns), cell % grid.columns);
    codes[cell] = Number.isNaN(weight) ? 0 : 1 + Math.round(254 * Math.sqrt(Math.min(Math.max(weight, 0), 1)));
  }
  paintCodes(canvas, codes, grid.rows, grid.columns);
  return canvas;
}

/** B - A for every pair of corresponding queries and keys; forbidden on both sides is nothing, on one side zero. */
function differenceOf(self, here, heads) {
  const { partners } = self.answer;
  const queries = partners[here.grids[0].queries]?.list || [];
  const keys = partners[here.grids[0].keys]?.list || [];
  const numbers = new Float32Array(queries.length * keys.length);
  queries.forEach((query, row) => {
    keys.forEach((key, column) => {
      const [a, b] = here.grids.map((grid, side) => sideWeight(self, side, grid, heads[side], query[side], key[side]));
      numbers[row * keys.length + column] = Number.isNaN(a) && Number.isNaN(b) ? NaN : (b || 0) - (a || 0);
    });
  });
  const reach = Math.max(numbers.reduce((most, number) => (Math.abs(number) > most ? Math.abs(number) : most), 0), 1e-6);
  const codes = Uint8Array.from(numbers, (number) => (Number.isNaN(number) ? 0 : 1 + Math.round(127 * (number / reach + 1))));
  const image = (self.images[2] ??= document.createElement("canvas"));
  if (codes.length) paintCodes(image, codes, queries.length, keys.length, SIGNED_INK);
  return { queries, keys, numbers, reach, image };
}

/** The number of the pair that is pointed at, or null. */
function pairOf(pairs, places, axis = "query") {
  const found = pairs.findIndex(([a, b]) => a === places[0][axis] && b === places[1][axis]);
  return found < 0 ? null : found;
}

function bothPieces(self, axis, [a, b]) {
  const [one, other] = [sideTokens(self, 0, axis)[a].piece, sideTokens(self, 1, axis)[b].piece];
  return one.trim() === other.trim() ? one : `${one}/${other.trim()}`;
}

function drawRange(self, { reach, queries, keys }) {
  const { low, high, leftOut } = self.parts;
  low.textContent = reach > 1e-5 ? `−${reach.toFixed(2)}` : "0";
  high.textContent = reach > 1e-5 ? `+${reach.toFixed(2)}` : "0";
  const { here } = self.shown;
  const count = (side, axis) => sideTokens(self, side, axis).length - (self.answer.partners[axis]?.list.length || 0);
  const [a, b] = [0, 1].map((side) => count(side, here.grids[side].keys));
  const words = [a && `${a} of A`, b && `${b} of B`].filter(Boolean).join(" and ");
  leftOut.textContent = !queries.length || !keys.length ? "No token has a partner." : words ? `Without a partner, left out: ${words}.` : "";
}

/** Tokens of both sides as chips; who has no partner is dashed, what the query looks at is shaded. */
function drawStrips(self) {
  self.parts.strips.forEach((strip, side) => {
    const tokens = sideTokens(self, side, "text");
    strip.classList.toggle("many", tokens.length > 60);
    const letter = make("b", "letter", "AB"[side]);
    letter.setAttribute("aria-hidden", "true");
    refill(strip, letter, ...tokens.map((token, place) => sideChip(self, side, token, place)));
  });
}

function sideChip(self, side, token, place) {
  const button = chip(token, place === questionedPlaces(self)[side]);
  const partner = across(self, side, "text", place);
  button.classList.toggle("alone", partner === null);
  button.title = partner === null ? "The other side has no such token" : "Click to ask what both sides make of this token";
  whenPointed(button, () => pointBoth(self, { side, query: place, key: null }), () => pointBoth(self, null));
  button.onclick = () => chooseQueryOf(self, side, place);
  button.onkeydown = (event) => {
    if (walkChips(button, event)) event.preventDefault();
  };
  return button;
}

function shadeSides(self, places) {
  const { here, heads } = self.shown;
  self.parts.strips.forEach((strip, side) => {
    const grid = here.grids[side];
    const { query } = places[side];
    [...strip.querySelectorAll("button")].forEach((button, place) => {
      const weight = query === null || grid.keys !== "text" ? 0 : sideWeight(self, side, grid, heads[side], query, place);
      button.style.setProperty("--shade", weight > 0 ? `${Math.round(Math.sqrt(weight) * 85)}%` : "0%");
      button.classList.toggle("query", place === query && grid.queries === "text");
    });
  });
}

/** The text that stands for the pictures. */
function describeMaps(self, places) {
  const { here, heads } = self.shown;
  const told = here.grids.map((grid, side) => {
    const { query, key } = places[side];
    const [queries, keys] = [sideTokens(self, side, grid.queries), sideTokens(self, side, grid.keys)];
    self.parts.maps[side].setAttribute("aria-label", `Attention of ${"AB"[side]}, layer ${heads[side].layer}, head ${heads[side].head}`);
    if (query === null || !queries[query]) return [`${"AB"[side]} has no such token`];
    const weight = (place) => sideWeight(self, side, grid, heads[side], query, place);
    if (key !== null && keys[key]) {
      const number = weight(key);
      return [`${"AB"[side]}: `, ...quote(queries[query]), " → ", ...quote(keys[key]), Number.isNaN(number) ? " may not attend (mask)" : ` ${number.toFixed(4)}`];
    }
    const best = keys.map((_, place) => place).filter((place) => weight(place) > 0.005).sort((a, b) => weight(b) - weight(a)).slice(0, 3);
    const list = best.flatMap((place, index) => [index ? ", " : " looks at ", ...quote(keys[place]), ` ${percent(weight(place))}`]);
    return [`${"AB"[side]}: `, ...quote(queries[query]), ...(list.length ? list : [" looks at nothing"])];
  });
  self.parts.maps[2].setAttribute("aria-label", "Difference of the two, B minus A, where tokens correspond");
  const parts = told.flatMap((words, side) => [...(side ? [make("br")] : []), ...words]);
  self.parts.reading.replaceChildren(...parts);
}

function listenMaps(self) {
  self.parts.maps.forEach((canvas, which) => {
    canvas.onmousemove = (event) => pointBoth(self, placeUnder(self, which, event));
    canvas.onmouseleave = () => pointBoth(self, null);
    canvas.onclick = (event) => {
      const place = placeUnder(self, which, event);
      if (place) chooseQueryOf(self, place.side, place.query);
    };
    canvas.onkeydown = (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || !self.answer) return;
      event.preventDefault();
      const last = self.answer.sides[0].tokens.length - 1;
      chooseQueryOf(self, 0, Math.min(Math.max(questionedPlaces(self)[0] + step, 0), last));
    };
  });
}

/** The cell under the pointer, as a place on side A or B; a cell of the difference is one on both. */
function placeUnder(self, which, event) {
  const cell = cellUnder(self.parts.maps[which], self.maps[which], event);
  if (!cell || which < 2) return cell && { side: which, ...cell };
  const { queries, keys } = self.shown.difference;
  return { side: 0, query: queries[cell.query][0], key: keys[cell.key][0] };
}

function pointBoth(self, place) {
  if (JSON.stringify(self.hot) === JSON.stringify(place)) return;
  self.hot = place;
  paintMaps(self);
}

/** Chooses the token that predictions and frames speak of; on side B its partner in A. */
function chooseQueryOf(self, side, place) {
  const grid = attentionHere(self)?.grids[side];
  const ours = side === 0 ? place : across(self, 1, "text", place);
  if (grid?.queries === "source" || ours === null) return;
  const last = self.answer.sides[0].tokens.length - 1;
  changeBoth(self, { query: ours === last ? -1 : ours }, self.other);
}
