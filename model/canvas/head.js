// The chosen heads, large: one of several pictures of one view, and the words that go with all of them.

// A row may be for models of texts or of pictures `only`, have words of its own for its scale, and keys of its own.
const PICTURES = Object.freeze({
  photo: { title: "Picture", draw: drawPhoto, under: underPhoto, jump: jumpPhoto, only: "pictures", scale: photoScale },
  map: { title: "Map", draw: paintMap, under: underMap },
  lines: { title: "Lines", draw: paintLines, under: underLines },
  text: { title: "Text", only: "texts", draw: drawText, mark: markText, under: underText },
  table: { title: "Table", draw: drawTable, mark: markTable, under: underTable },
  points: { title: "q · k", about: "Queries and keys of the head in one plane", draw: paintPoints, under: underPoints },
});

/** The names and rows of the pictures that there are of what the model read. */
function possiblePictures(self) {
  const read = self.answer.patches ? "pictures" : "texts";
  return Object.entries(PICTURES).filter(([, { only }]) => !only || only === read);
}

function openPicture(self) {
  const names = possiblePictures(self).map(([name]) => name);
  return names.includes(self.choice.picture) ? self.choice.picture : names[0];
}

/** Everything in the panel of the chosen heads. */
function drawHead(self) {
  const open = openPicture(self);
  const view = currentView(self);
  const { parts } = self;
  nameHead(self);
  drawOptions(self);
  parts.trouble.hidden = !self.trouble;
  parts.trouble.textContent = self.trouble;
  parts.stage.hidden = Boolean(self.trouble);
  parts.canvas.hidden = !["map", "lines", "points", "photo"].includes(open);
  parts.prose.hidden = open !== "text";
  parts.sheet.hidden = open !== "table";
  parts.stage.dataset.picture = open;
  const width = widthOf(self, "stage");
  const drawn = `${open} ${width}`;
  // A picture that is about to be replaced stays as it is: its words may be about another text.
  if (self.trouble || (self.late && self.drawnHead === drawn)) return;
  self.drawnHead = drawn;
  self.style = styleNow(self);
  if (width) paintPicture(self, PICTURES[open].draw, view, width);
  afterPicture(self, view);
}

/** The pointer has moved: only marks are painted anew, where a picture can do that. */
function pointHead(self) {
  if (!self.shown || self.trouble) return;
  const { draw, mark } = PICTURES[openPicture(self)];
  const width = widthOf(self, "stage");
  if (width) paintPicture(self, mark || draw, self.shown, width);
  afterPicture(self, self.shown);
}

/** Painted aside, then put up: on the page itself each font that is set would first lay out all that has changed. */
function paintPicture(self, draw, view, width) {
  const { canvas } = self.parts;
  self.paper ??= document.createElement("canvas");
  draw(self, view, width);
  if (!canvas.hidden) putUp(self.paper, canvas);
}

function afterPicture(self, view) {
  drawLegend(self, view);
  describe(self, view);
  shadeTokens(self, view);
}

function nameHead(self) {
  const { parts } = self;
  const grid = currentGrid(self);
  const heads = chosenHeads(self);
  const [[layer, head]] = heads;
  const off = heads.every((one) => isOff(self, grid, ...one));
  const several = heads.length > 1;
  parts.title.textContent = several ? `${heads.length} heads` : `Layer ${layer} · Head ${head}`;
  parts.off.setAttribute("aria-checked", String(!off));
  parts.off.setAttribute("aria-label", several ? `The ${heads.length} collected heads` : `Head ${head} of layer ${layer}`);
  parts.off.lastElementChild.textContent = off ? "off" : "on";
  drawChoices(self, parts.picture, "picture", possiblePictures(self).map(([name, { title }]) => [name, title]), openPicture(self));
  parts.picture.lastChild.title = PICTURES.points.about;
  parts.collected.hidden = !several;
  if (several) refill(parts.collected, ...heads.map((one, place) => collectedHead(self, one, place)), lettingGo(self));
}

function collectedHead(self, [layer, head], place) {
  const pill = make("button", "pill", `L${layer} H${head}`);
  pill.type = "button";
  pill.title = "Leave this head out";
  const mark = make("i", `swatch${place >= HEAD_COLOURS.length ? " broken" : ""}`);
  mark.style.setProperty("--mine", HEAD_COLOURS[place % HEAD_COLOURS.length]);
  pill.prepend(mark);
  pill.onclick = () => chooseHead(self, layer, head, true);
  return pill;
}

function lettingGo(self) {
  const all = make("button", "pill all", "Let go");
  all.type = "button";
  all.dataset.testid = "let-go";
  all.onclick = () => change(self, { heads: [] });
  return all;
}

/** The scale with its ends, and every rule by which the picture was made. */
function drawLegend(self, view) {
  const { parts } = self;
  const open = openPicture(self);
  const own = open === "text" && Number.isFinite(self.darkest); // a text's shades end at its largest number
  const high = own ? self.darkest : view.high;
  const end = (number) => (view.scale === "share" && Number.isInteger(number) ? String(number) : shortly(view, number));
  parts.low.textContent = end(own && view.signed ? -high : view.low);
  parts.high.textContent = open === "map" ? end(high) : `to ${end(high)}`;
  parts.low.hidden = parts.high.hidden = Boolean(PICTURES[open].scale); // which a word describes
  parts.scale.hidden = open !== "map";
  if (open === "map") paintScale(parts.scale, view.signed ? SIGNED_INK : INK);
  const scale = { share: "square-root scale", root: "square-root scale", linear: view.signed ? "white at zero" : "linear scale" }[view.scale];
  const several = view.each.length > 1 && open === "lines" ? "a colour for each head, words for all together" : "";
  parts.said.textContent = [...view.said, open === "map" ? scale : open === "text" ? "strongest at the largest" : PICTURES[open].scale?.(view), several].filter(Boolean).join(" · ");
}

function paintMap(self, view, width) {
  const image = (self.small ??= document.createElement("canvas"));
  paintCodes(image, codesOfView(view), view.height, view.width, view.signed ? SIGNED_INK : INK);
  const rows = rowsAtHand(self, view);
  const column = hoveredColumn(self, view);
  self.map = drawMap(self.paper, width, {
    queries: view.rows.names.map((piece) => ({ piece })),
    keys: view.columns.names.map((piece) => ({ piece })),
    image,
    alpha: 1,
    ground: view.signed,
    tall: heightOf(self),
    hot: { query: rows.at(-1) ?? null, key: column ?? null },
    rows,
    style: self.style,
  });
}

/** How high a picture may be. */
function heightOf(self) {
  if (self.style.type > 1) return Math.max(innerHeight - 470, 280); // all of it on the projector's one screen
  return self.choice.size === "large" ? 540 : 430;
}

/** The tokens that a row and a column of the view begin with. */
function tokensOf(view, row, column) {
  return { query: view.rows.tokens[row]?.[0] ?? null, key: view.columns.tokens[column]?.[0] ?? null };
}

function underMap(self, event) {
  const cell = cellUnder(self.parts.canvas, self.map, event);
  return cell && tokensOf(self.shown, cell.query, cell.key);
}
