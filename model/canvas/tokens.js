// The tokens as chips: white space made visible, shaded by what the chosen query looks at.

function placed(token, position) {
  const button = chip(token, position === 0);
  button.dataset.position = position;
  return button;
}

function drawTokens(self) {
  const { tokens, sourceTokens, maskable } = self.answer;
  const { parts } = self;
  parts.tokens.hidden = Boolean(self.answer.patches); // the picture itself stands for them
  if (self.answer.patches) return parts.tokens.replaceChildren();
  refill(parts.tokens, ...tokens.map(placed));
  parts.tokens.classList.toggle("many", tokens.length > 60);
  parts.sourceTokens.hidden = !sourceTokens;
  refill(parts.sourceTokens, ...(sourceTokens || []).map(placed));
  for (const strip of [parts.tokens, parts.sourceTokens]) {
    for (const button of strip.children) hookUp(self, button, strip === parts.tokens ? "text" : "source");
  }
  for (const button of parts.tokens.children) {
    const token = tokens[button.dataset.position];
    if (maskable) button.setAttribute("aria-pressed", String(token.masked));
    const click = token.masked ? "Masked. Click to show it again" : token.special ? "A special token" : "Click to mask this token";
    button.title = maskable ? `${click}; Shift+click locks its row` : "Click locks its row and asks what comes after it; Shift+click locks several";
  }
}

function hookUp(self, button, which) {
  const position = Number(button.dataset.position);
  button.onclick = (event) => clickToken(self, which, position, isMore(event));
  button.onmouseenter = () => hover(self, hoverOf(self, which, position));
  button.onmouseleave = () => hover(self, null);
  button.onkeydown = (event) => {
    if (event.key === "Enter" && isMore(event)) clickToken(self, which, position, true);
    else if (!walkTokens(self, button, event)) return;
    event.preventDefault();
  };
}

/** A token of either text, as a query where it can be one; with a lock the pointer asks what the locked row gives it. */
function hoverOf(self, which, position) {
  const grid = currentGrid(self);
  if (!grid) return null;
  const { queries, keys } = grid;
  const asKey = queries !== which || (queries === keys && self.choice.locked.length);
  return asKey ? { query: null, key: position } : { query: position, key: null };
}

/** Left and right walk, Escape lets go of what is locked; whether the key meant anything. */
function walkTokens(self, button, event) {
  if (event.key === "Escape") unlock(self);
  return walkChips(button, event) || event.key === "Escape";
}

function clickToken(self, which, position, more) {
  const { tokens, maskable } = self.answer;
  const asks = currentGrid(self)?.queries === which;
  if (which === "source" || more || !maskable) {
    if (asks) lockQuery(self, position, more);
    else if (which === "text") chooseQuery(self, position);
    return;
  }
  const others = self.choice.masked.filter((other) => other !== position);
  const unmasks = others.length < self.choice.masked.length;
  if (!unmasks && tokens[position].special) return lockQuery(self, position);
  change(self, { masked: unmasks ? others : [...others, position].sort((a, b) => a - b), query: position, locked: [] });
}
