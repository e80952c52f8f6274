// The sidebar's wiring: which mask, positions and kernel stand in the place of those that a model was trained with. Whoever
// draws heads on this page hears of a change at once and tells Streamlit; where nobody does, it is told from here.

const MOUNTED = new WeakMap();
const PATIENCE = 3000; // milliseconds in which Streamlit still speaks of an older choice

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".wiring");
  const self = MOUNTED.get(parentElement) || { root, choice: null, awaits: 0, turn: data.turn, until: 0 };
  MOUNTED.set(parentElement, self);
  self.tell = setStateValue;
  self.data = data;
  const behind = Date.now() < self.until && (data.serial < self.awaits || data.turn < self.turn);
  if (!behind) self.choice = { ...data.choice };
  drawWiring(self);
  return () => MOUNTED.delete(parentElement);
}

function rewire(self, patch) {
  self.choice = { ...self.choice, ...patch };
  drawWiring(self);
  self.until = Date.now() + PATIENCE;
  const news = new CustomEvent("headlight-wiring", { detail: { patch }, cancelable: true });
  const heard = !document.dispatchEvent(news);
  if (heard) self.awaits = news.detail.serial;
  else self.tell("settled", { ...self.choice, turn: ++self.turn });
}

/** The mask's kind, as the list names it, and the width or matrix behind its colon. */
function maskOf({ masks }) {
  const at = masks.indexOf(":");
  return at < 0 ? [masks, ""] : [masks.slice(0, at), masks.slice(at + 1)];
}

function drawWiring(self) {
  const { root, data, choice } = self;
  const [kind, argument] = maskOf(choice);
  const shown = { ...choice, masks: kind };
  const drawn = JSON.stringify([data.parts, shown]);
  if (self.drawn !== drawn) refill(root.querySelector(".parts"), ...data.parts.map((part) => partControl(self, part, shown[part.field])));
  self.drawn = drawn; // a list that somebody has open stays open
  drawWidth(self, kind, argument);
  drawMatrix(self, kind, argument);
  const scale = root.querySelector('[data-testid="wiring-scale"]');
  const on = choice.scale ? choice.scale === "on" : data.scaled;
  scale.setAttribute("aria-checked", String(on));
  scale.onclick = () => rewire(self, { scale: !on === data.scaled ? "" : on ? "off" : "on" });
  const back = root.querySelector('[data-testid="as-trained"]');
  back.hidden = !Object.values(choice).some(Boolean);
  back.onclick = () => rewire(self, { masks: "", position: "", kernel: "", scale: "" });
}

function partControl(self, { field, title, options }, chosen) {
  const label = make("label", "part");
  const select = make("select");
  select.dataset.testid = `wiring-${field}`;
  const known = options.some(([value]) => value === chosen);
  select.append(...options.map(([value, name]) => new Option(name, value, false, value === (known ? chosen : ""))));
  select.onchange = () => rewire(self, { [field]: field === "masks" ? begun(self, select.value) : select.value });
  label.append(make("span", "name", title), select);
  return label;
}

/** A mask of a kind that somebody has just chosen, with the width or matrix to begin with. */
function begun({ data }, kind) {
  return kind === "custom" ? `custom:${data.matrix}` : kind.endsWith("window") ? `${kind}:${data.width}` : kind;
}

function drawWidth(self, kind, argument) {
  const part = self.root.querySelector('[data-part="width"]');
  const slider = part.querySelector("input");
  part.hidden = !kind.endsWith("window");
  if (part.hidden) return;
  slider.value = argument;
  part.querySelector("output").textContent = slider.value;
  slider.oninput = () => rewire(self, { masks: `${kind}:${slider.value}` });
}

function drawMatrix(self, kind, argument) {
  const part = self.root.querySelector('[data-part="matrix"]');
  const box = part.querySelector("textarea");
  part.hidden = kind !== "custom";
  if (part.hidden) return;
  if (box.getRootNode().activeElement !== box) box.value = argument.replaceAll("/", "\n");
  box.oninput = () => rewire(self, { masks: `custom:${box.value.trim().split(/\s+/).join("/")}` });
}
