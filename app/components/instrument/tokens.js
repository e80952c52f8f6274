// The tokens as chips: white space made visible, shaded by what the chosen query looks at.

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** A piece of text with its white space made visible, as the reader should see it. */
function visible(piece) {
  const signs = piece.replace(/ /g, "·").replace(/\n/g, "⏎").replace(/\t/g, "→");
  // Other control characters have pictures of their own, 0x2400 further on.
  return signs.replace(/[\0-\x1f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0x2400)) || "∅";
}

/** The same for running text: a leading space is left out. */
function spoken(piece) {
  return visible(piece.replace(/^ (?=.)/, ""));
}

function chip(self, token, position) {
  const button = make("button", "chip");
  button.type = "button";
  const piece = visible(token.piece);
  const edge = piece.startsWith("·") && piece.length > 1 ? 1 : 0;
  if (edge) button.append(make("i", "space", "·"));
  button.append(make("bdi", "", piece.slice(edge)));
  button.dataset.position = position;
  button.tabIndex = position === 0 ? 0 : -1;
  return button;
}

function drawTokens(self) {
  const { tokens, sourceTokens, maskable } = self.answer;
  const strip = self.parts.tokens;
  strip.replaceChildren(...tokens.map((token, position) => chip(self, token, position)));
  strip.classList.toggle("many", tokens.length > 60);
  self.parts.sourceTokens.hidden = !sourceTokens;
  self.parts.sourceTokens.replaceChildren(
    ...(sourceTokens || []).map((token, position) => {
      const button = chip(self, token, position);
      button.disabled = true;
      return button;
    }),
  );
  for (const button of strip.children) {
    const position = Number(button.dataset.position);
    const token = tokens[position];
    button.classList.toggle("special", token.special);
    button.classList.toggle("masked", token.masked);
    button.setAttribute("aria-pressed", String(maskable ? token.masked : position === queryPosition(self)));
    button.title = maskable
      ? token.masked ? "Masked. Click to show it again" : token.special ? "A special token" : "Click to mask this token"
      : "Click to ask what comes after this token";
    button.onclick = () => clickToken(self, position);
    button.onmouseenter = () => hover(self, { query: position, key: null });
    button.onmouseleave = () => hover(self, null);
    button.onkeydown = (event) => walkTokens(strip, position, event);
  }
}

function walkTokens(strip, position, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const next = step && strip.children[position + step];
  if (!next) return;
  event.preventDefault();
  strip.children[position].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function clickToken(self, position) {
  const { tokens, maskable } = self.answer;
  if (!maskable) return change(self, { query: position === tokens.length - 1 ? -1 : position });
  const others = self.choice.masked.filter((other) => other !== position);
  const unmasks = others.length < self.choice.masked.length;
  if (!unmasks && tokens[position].special) return change(self, { query: position });
  change(self, { masked: unmasks ? others : [...others, position].sort((a, b) => a - b), query: position });
}

/** Shades every chip by the weight that the query at hand gives it. */
function shadeTokens(self) {
  const grid = currentGrid(self);
  const query = self.hovered?.query ?? queryPosition(self);
  const chips = [...self.parts.tokens.children];
  const keys = grid.keys === "source" ? [...self.parts.sourceTokens.children] : chips;
  for (const button of [...chips, ...self.parts.sourceTokens.children]) button.style.removeProperty("--shade");
  keys.forEach((button, key) => {
    const weight = weightAt(self, query, key);
    if (weight > 0) button.style.setProperty("--shade", `${Math.round(Math.sqrt(weight) * 85)}%`);
  });
  chips.forEach((button, position) => button.classList.toggle("query", grid.queries !== "source" && position === query));
}
