// How B is wired: for each part a choice, "as A" unless somebody chose otherwise; and things worth comparing.

const PARTS = [["masks", "Mask"], ["position", "Positions"], ["kernel", "Kernel"], ["scale", "Scores"]];
const WINDOW = 4;
const MATRIX = "100/110/111";

function titleOf(self, part, value) {
  if (part === "masks") {
    const { kind, argument } = maskParts(value);
    const known = self.options.masks.find(([name]) => name === kind);
    return `${known ? known[1] : value}${argument && kind.endsWith("window") ? ` of ${argument}` : ""}`;
  }
  return self.options[part].find(([name]) => name === value)?.[1] || value;
}

/** `causal+window:4` as its kind and its argument. */
function maskParts(masks) {
  const [kind, ...rest] = masks.split(":");
  return { kind, argument: rest.join(":") };
}

function trainedOf(self, model) {
  return self.models.find(({ name }) => name === model)?.trained || {};
}

function drawWiring(self) {
  const left = questionA(self);
  const trained = trainedOf(self, left.model);
  const told = [left.model, ...PARTS.map(([part]) => titleOf(self, part, left[part] || trained[part]))];
  const changes = left.edits.length ? [`${left.edits.length} change${left.edits.length > 1 ? "s" : ""}`] : [];
  refill(self.parts.wiringA, make("span", "", [...told, ...changes].join(" · ")), make("span", "quiet", " – as in the sidebar"));
  const right = questionB(self);
  const controls = [modelControl(self, right), ...PARTS.map(([part, title]) => partControl(self, part, title, right))];
  refill(self.parts.wiringB, ...controls, editsControl(self, left, right));
}

function labelled(title, ...inner) {
  const label = make("label", "", "");
  label.append(make("span", "", title), ...inner);
  return label;
}

/** A select; `options` are pairs of a value and a title. */
function picker(name, options, chosen, onPick) {
  const select = make("select");
  select.dataset.testid = `b-${name}`;
  select.append(
    ...options.map(([value, title]) => {
      const option = make("option", "", title);
      option.value = value;
      option.selected = value === chosen;
      return option;
    }),
  );
  select.classList.toggle("differs", chosen !== "as A");
  select.onchange = () => onPick(select.value);
  return select;
}

function modelControl(self, right) {
  const options = [["as A", "as A"], ...self.models.map(({ name, title }) => [name, title])];
  const chosen = self.other.model === undefined ? "as A" : right.model;
  return labelled("Model", picker("model", options, chosen, (model) => differ(self, { model: model === "as A" ? undefined : model })));
}

function partControl(self, part, title, right) {
  const own = trainedOf(self, right.model)[part];
  const given = self.other[part];
  const options = [
    ["as A", "as A"],
    ["", `${titleOf(self, part, own)} · as trained`],
    ...self.options[part].filter(([value]) => value !== own),
  ];
  const { kind, argument } = part === "masks" && given ? maskParts(given) : { kind: given, argument: "" };
  const pick = (value) => {
    const full = part !== "masks" ? value : value === "custom" ? `custom:${MATRIX}` : value.endsWith("window") ? `${value}:${WINDOW}` : value;
    differ(self, { [part]: value === "as A" ? undefined : full });
  };
  const label = labelled(title, picker(part, options, given === undefined ? "as A" : kind, pick));
  if (kind?.endsWith("window")) label.append(widthField(self, kind, argument));
  if (kind === "custom") label.append(matrixField(self, argument));
  return label;
}

function widthField(self, kind, argument) {
  const field = make("input");
  Object.assign(field, { type: "number", min: 1, max: 64, value: argument, ariaLabel: "Window width in tokens" });
  field.onchange = () => differ(self, { masks: `${kind}:${Math.min(Math.max(Math.round(Number(field.value)) || 1, 1), 64)}` });
  return field;
}

function matrixField(self, argument) {
  const field = make("input");
  Object.assign(field, { type: "text", value: argument, ariaLabel: "Matrix: a row per query, 1 = may attend", spellcheck: false });
  field.title = "A row for each query, 1 where it may attend, rows parted by /";
  field.onchange = () => differ(self, { masks: `custom:${field.value.trim().split(/[\s/]+/).join("/")}` });
  return field;
}

function editsControl(self, left, right) {
  const options = [["as A", "as A"], ["none", "none"]];
  const own = self.other.edits?.length ? `${right.edits.length} of its own` : "";
  if (own) options.push(["own", own]);
  const chosen = self.other.edits === undefined ? "as A" : self.other.edits.length ? "own" : "none";
  const pick = (value) => value !== "own" && differ(self, { edits: value === "none" ? [] : undefined });
  return labelled("Changes", picker("edits", options, chosen, pick));
}

/** B differs from A in something else; undefined: not any more. */
function differ(self, patch) {
  const other = { ...self.other, ...patch };
  if ("model" in patch) for (const name of ["edits", "masked"]) delete other[name];
  for (const name of Object.keys(other)) if (other[name] === undefined) delete other[name];
  changeBoth(self, {}, other);
}

function swapSides(self) {
  const [left, right] = [questionA(self), questionB(self)];
  const other = Object.fromEntries(QUESTION.filter((name) => JSON.stringify(left[name]) !== JSON.stringify(right[name])).map((name) => [name, left[name]]));
  for (const name of ["align"]) if (self.other[name]) other[name] = self.other[name];
  const { text, source, edits, masked, ...settings } = right;
  self.settings = settings;
  changeBoth(self, { text, source, edits, masked, query: -1, attention: "" }, other);
}

function drawPresets(self, presets) {
  const buttons = presets.map(({ title, text, other }) => {
    const button = make("button", "example", title);
    button.type = "button";
    button.onclick = () => {
      self.follows = true;
      changeBoth(self, text === null ? { query: -1 } : { text, masked: [], query: -1 }, { ...other });
    };
    return button;
  });
  refill(self.parts.presets, ...buttons);
}
