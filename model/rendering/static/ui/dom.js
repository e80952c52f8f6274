// What every component is made of: elements, tokens as text, numbers as words, sheets to draw on.

export function createElement(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * Puts new children in the place of the old; those that lead and are the same stay untouched. A repaint takes nothing out
 * of a person's hands: what had the focus of the keyboard has it again, found by its test name or else by its place; the
 * first of its kind has it where it is gone.
 */
export function updateChildren(parent, ...children) {
  const active = parent.getRootNode().activeElement;
  const held = active && active !== parent && parent.contains(active);
  const likes = held && (active.dataset.testid ? `[data-testid="${CSS.escape(active.dataset.testid)}"]` : active.localName);
  const place = held ? [...parent.querySelectorAll(likes)].indexOf(active) : -1;
  let kept = 0;
  while (kept < children.length && parent.childNodes[kept] === children[kept]) kept++;
  while (parent.childNodes.length > kept) parent.lastChild.remove();
  parent.append(...children.slice(kept));
  if (!held) return;
  if (parent.contains(active)) return active.focus({ preventScroll: true });
  const again = parent.querySelectorAll(likes)[place] || parent.querySelector(active.localName);
  if (again?.tabIndex < 0) {
    for (const other of parent.querySelectorAll(`${again.localName}[tabindex="0"]`)) other.tabIndex = -1; // the tab key lands on one
    again.tabIndex = 0;
  }
  again?.focus({ preventScroll: true });
}

/** A piece of text with its white space made visible, as the reader should see it. */
export function visibleText(piece) {
  const signs = piece.replace(/ /g, "·").replace(/\n/g, "⏎").replace(/\t/g, "→");
  // Other control characters have pictures of their own, 0x2400 further on.
  return signs.replace(/[\0-\x1f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0x2400)) || "∅";
}

/** The same for running text: a leading space is left out. */
export function inlineText(piece) {
  return visibleText(piece.replace(/^ (?=.)/, ""));
}

/** A token as a button; the space it carries in front stands apart. `first` says whether the tab key lands on it. */
export function createChip(token, first) {
  const button = createElement("button", "chip");
  button.type = "button";
  const piece = visibleText(token.piece);
  const edge = piece.startsWith("·") && piece.length > 1 ? 1 : 0;
  if (edge) button.append(createElement("i", "space", "·"));
  button.append(createElement("bdi", "", piece.slice(edge)));
  button.classList.toggle("special", token.special);
  button.classList.toggle("masked", token.masked);
  button.tabIndex = first ? 0 : -1;
  return button;
}

/** The arrow keys go from chip to chip: whether the key meant one that is there. */
export function moveChipFocus(button, event) {
  const next = { ArrowRight: button.nextElementSibling, ArrowLeft: button.previousElementSibling }[event.key];
  if (!next?.classList.contains("chip")) return false;
  for (const other of button.parentElement.querySelectorAll('.chip[tabindex="0"]')) other.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  return true;
}

/** A token in running text, kept apart from the direction of the words around it. */
export function quotedToken(token) {
  return [createElement("bdi", "token", inlineText(token.piece))];
}

export function formatPercent(share) {
  if (!Number.isFinite(share)) return "–";
  const value = share * 100;
  if (value === 0) return "0 %";
  return value < 0.05 ? "<0.1 %" : `${value.toFixed(1)} %`;
}

/** Buttons of which one is pressed; `options` are pairs of a value and a title. */
export function drawChoices(group, field, options, chosen, choose) {
  const buttons = options.map(([value, title]) => {
    const button = createElement("button", "", title);
    button.type = "button";
    button.dataset.testid = `${field}-${value}`;
    button.setAttribute("aria-pressed", String(chosen === value));
    button.onclick = () => choose(value);
    return button;
  });
  updateChildren(group, ...buttons);
}

/** Reads what a pointer moves onto. What is drawn anew under a resting pointer stays unread: nobody has pointed at it. */
export function onHover(element, read, left = () => {}) {
  let over = false;
  element.onmousemove = () => {
    if (!over) read();
    over = true;
  };
  element.onmouseleave = () => {
    over = false;
    left();
  };
}

/** Sizes the canvas for the screen's own pixels and hands out its context, cleared. */
export function hidpiContext(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Shows on one canvas what another holds. */
export function blit(paper, canvas) {
  for (const side of ["width", "height"]) {
    if (canvas[side] !== paper[side]) canvas[side] = paper[side];
    if (canvas.style[side] !== paper.style[side]) canvas.style[side] = paper.style[side];
  }
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.drawImage(paper, 0, 0);
}


/** The colours and the font in force, for a canvas. */
export function canvasStyle(root) {
  const style = getComputedStyle(root);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    ink: style.color, quiet: read("--quiet"), line: read("--line"), beam: read("--beam"), surface: read("--surface"), type: Number(read("--type")) || 1, raised: read("--raised"), font: style.fontFamily,
  };
}

export function truncateText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const letters = [...text];
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > width) letters.pop();
  return `${letters.join("")}…`;
}
