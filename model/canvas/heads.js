// The room of heads: all of them as thumbnails, and the chosen ones large.

const ROOM_HEADS = {
  title: "Heads",

  /** `fresh`: there is a new answer, or other colours; else only a choice changed. */
  draw(self, fresh) {
    const grid = currentGrid(self);
    if (!grid) return;
    clampHead(self, grid);
    const room = self.rooms.heads;
    const large = self.choice.size === "large";
    if (room.classList.contains("large") !== large) measureAnew(self);
    room.classList.toggle("large", large);
    const laid = `${grid.name} ${self.choice.sort} ${Boolean(metricsOf(self, grid))} ${widthOf(self, "grid")} ${styleNow(self).raised} ${devicePixelRatio}`;
    if (fresh || self.laid !== laid) paintGrid(self);
    self.laid = laid;
    drawKinds(self);
    markGrid(self);
    drawHabits(self);
    drawHead(self);
    drawZoom(self);
    fillGrid(self).catch(() => {}); // the next answer says what is wrong
  },

  /** The pointer is at another token, or nowhere. */
  point: pointHead,
};

function drawKinds(self) {
  const { grids } = self.answer;
  self.parts.kinds.hidden = grids.length < 2;
  const options = grids.map((grid) => [grid.name, grid.title]);
  drawChoices(self, self.parts.kinds, "attention", options, currentGrid(self).name);
}

/** The elements that these pictures need: tokens, predictions, and all of the heads' panels. */
function headParts(named) {
  return {
    tokens: named("tokens"), sourceTokens: named("source-tokens"), predictions: named("predictions"), kinds: named("kinds"),
    grid: named("grid"), habits: named("habits"), title: named("head-title"), off: named("head-switch"), collected: named("collected"),
    picture: named("picture"), options: named("options"), optionsButton: named("options-button"), grow: named("grow"),
    trouble: named("trouble"), stage: named("stage"), canvas: named("head-canvas"), prose: named("prose"), sheet: named("sheet"),
    gridScale: named("grid-scale"), low: named("low"), high: named("high"), scale: named("scale"), said: named("said"), reading: named("reading"),
  };
}

function listenToHeads(self) {
  const { parts } = self;
  paintScale(parts.gridScale);
  parts.grid.onclick = (event) => clickGrid(self, event);
  parts.grid.onkeydown = (event) => walkGrid(self, event);
  parts.off.onclick = () => toggleHeads(self, chosenHeads(self));
  parts.stage.onmousemove = (event) => pointerMoves(self, event);
  parts.stage.onmouseleave = () => hover(self, null);
  parts.stage.onclick = (event) => pointerClicks(self, event);
  parts.stage.onkeydown = (event) => walkPicture(self, event);
  bindOptions(self);
  bindZoom(self);
}
