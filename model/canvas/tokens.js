// The tokens as chips: white space made visible, shaded by what the chosen query looks at.

function drawTokens(self) {
  const { tokens, sourceTokens, patches } = self.answer;
  const { parts } = self;
  parts.tokens.hidden = Boolean(patches); // the picture itself stands for them
  fillStrip(self, parts.tokens, patches ? [] : tokens, "text");
  parts.tokens.classList.toggle("many", tokens.length > 60);
  parts.sourceTokens.hidden = !sourceTokens;
  fillStrip(self, parts.sourceTokens, sourceTokens || [], "source");
}

/** What reads as before keeps its chip: a letter typed at the end of a long text makes one or two anew. */
function fillStrip(self, strip, tokens, which) {
  const { maskable } = self.answer;
  const chips = tokens.map((token, position) => {
    const read = JSON.stringify([token.piece, token.special, token.masked, maskable]);
    const there = strip.children[position];
    return there?.read === read ? unmarked(there, maskable) : Object.assign(tokenChip(self, token, position, which), { read });
  });
  refill(strip, ...chips);
  const active = strip.getRootNode().activeElement;
  const stop = chips.find((one) => one === active) ?? chips.find((one) => one.tabIndex === 0) ?? chips[0];
  for (const one of chips) one.tabIndex = one === stop ? 0 : -1;
}

/** A chip without what the last answer made of it; in rooms other than that of the heads nothing marks it again. */
function unmarked(button, maskable) {
  button.removeAttribute("style");
  button.classList.remove("key", "query", "locked");
  if (!maskable) button.removeAttribute("aria-pressed");
  return button;
}

function tokenChip(self, token, position, which) {
  const button = chip(token, position === 0);
  button.dataset.position = position;
  hookUp(self, button, which);
  if (which === "source") return button;
  const { maskable } = self.answer;
  if (maskable) button.setAttribute("aria-pressed", String(token.masked));
  const click = token.masked ? "Masked. Click to show it again" : token.special ? "A special token" : "Click to mask this token";
  button.title = maskable ? `${click}; Shift+click locks its row` : "Click locks its row and asks what comes after it; Shift+click locks several";
  return button;
}

function hookUp(self, button, which) {
  const position = Number(button.dataset.position);
  button.onclick = (event) => clickToken(self, which, position, isMore(event));
  whenPointed(button, () => hover(self, hoverOf(self, which, position)), () => hover(self, null));
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
