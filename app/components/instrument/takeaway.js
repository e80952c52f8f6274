// Taking away what is on the screen: links, the whole state, figures, numbers, a file that draws itself, programs.

const STATE_MARK = "headlight";
const LARGEST_STATE = 4 << 20; // bytes of a state file
const TOO_LONG = { text: "the text", source: "the source", other: "the other text", written: "the written text", beside: "the other side" };

function listenToTakeaway(self, named) {
  const [button, menu] = [named("takeaway"), named("takeaway-menu")];
  self.takeaway = { button, menu, told: named("takeaway-told"), copied: named("takeaway-copied"), path: named("takeaway-path"), width: named("figure-width"), title: named("figure-title") };
  button.onclick = () => openTakeaway(self, menu.hidden);
  menu.onkeydown = (event) => {
    event.stopPropagation(); // letters typed here are no keys of the pictures
    if (event.key !== "Escape") return;
    openTakeaway(self, false);
    button.focus();
  };
  const away = (event) => !menu.hidden && !event.composedPath().some((part) => part === menu || part === button) && openTakeaway(self, false);
  document.addEventListener("pointerdown", away);
  const actions = {
    "take-link": () => takeLink(self), "take-embed": () => takeEmbed(self), "take-state": () => takeState(self),
    "take-svg": () => takeFigure(self, "svg"), "take-png": () => takeFigure(self, "png"), "take-pdf": () => takeFigure(self, "pdf"),
    "take-page": () => takeFile(self, "page", { asked: pageKey(self) }), "take-python": () => takeProgram(self, "python"), "take-shell": () => takeProgram(self, "shell"),
    ...Object.fromEntries(["csv", "json", "npz"].map((form) => [`take-${form}`, () => takeFile(self, "numbers", { form, path: self.takeaway.path.value })])),
  };
  for (const [name, take] of Object.entries(actions)) named(name).onclick = () => attempt(self, named(name), take);
  named("open-state").onchange = (event) => attempt(self, event.target, () => openState(self, event.target));
  return () => document.removeEventListener("pointerdown", away);
}

function openTakeaway(self, open) {
  const { button, menu, copied } = self.takeaway;
  menu.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
  if (!open) return;
  copied.hidden = true;
  sayTaken(self, "");
  self.takeaway.path.placeholder = `of the picture; or of a path: ${pathOfHead(self)}`;
  menu.querySelector("button").focus();
}

function sayTaken(self, ...told) {
  self.takeaway.told.replaceChildren(...told);
}

/** Does one thing at a time, and says what came of it. */
async function attempt(self, control, take) {
  if (!self.answer || self.taking) return;
  self.taking = true;
  control.classList.add("busy");
  sayTaken(self, "");
  try {
    await take();
  } catch (error) {
    sayTaken(self, error instanceof TypeError ? "The server does not answer. Is Headlight still running?" : error.message);
  } finally {
    self.taking = false;
    control.classList.remove("busy");
  }
}

/** All that was chosen, as the server reads it. */
function chosenState(self) {
  return { ...self.settings, ...self.choice };
}

async function answered(self, route, body) {
  const found = await post(self, route, body);
  if (found.meta.error) throw new Error(found.meta.error);
  return found;
}

/** Puts text into the clipboard, and shows it: where there is no clipboard, it is marked to be copied. */
async function copied(self, text, said) {
  const box = self.takeaway.copied;
  box.hidden = false;
  box.value = text;
  box.rows = Math.min(text.split("\n").length, 9);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    box.select(); // a page that came over plain http has none
    if (!document.execCommand("copy")) return sayTaken(self, "Press Ctrl+C to copy what is marked.");
  }
  sayTaken(self, said);
}

async function address(self, more) {
  const { meta } = await answered(self, "link", { ...chosenState(self), presenter: "", bare: "", ...more });
  const link = new URL(location.href);
  [link.search, link.hash] = [meta.query, ""];
  const lost = meta.lost.map((name) => TOO_LONG[name] || name).join(" and ");
  return { link: link.href, lost: lost && ` It leaves out ${lost}, too long for a link: save the state as a file instead.` };
}

async function takeLink(self) {
  const { link, lost } = await address(self, {});
  await copied(self, link, `The link is copied.${lost || " Who opens it sees the same."}`);
}

async function takeEmbed(self) {
  const { link, lost } = await address(self, { bare: "1" });
  const source = link.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  const frame = `<iframe src="${source}" title="Headlight" width="100%" height="760" style="border: 0" sandbox="allow-scripts allow-same-origin"></iframe>`;
  await copied(self, frame, `The frame for another page is copied.${lost}`);
}

function takeState(self) {
  const state = { ...chosenState(self), bare: "" };
  saveFile("headlight-state.json", "application/json", JSON.stringify({ [STATE_MARK]: 1, state }, null, 1));
  sayTaken(self, "The state is saved, the whole text with it. Open it here again at any time.");
}

async function openState(self, input) {
  const [file] = input.files;
  input.value = "";
  if (!file) return;
  if (file.size > LARGEST_STATE) throw new Error("This file is too large for a saved state.");
  const state = readState(await file.text());
  if (!state) throw new Error("This file holds no state of Headlight. Save one here first.");
  forgetReport(self);
  self.agreed = null; // whatever is handed back is taken over, even what Streamlit knew all along
  self.serial++;
  openTakeaway(self, false);
  self.tell("settled", { ...state, serial: self.serial }); // the page checks every choice, and hands back what fits
}

function readState(text) {
  try {
    const read = JSON.parse(text);
    return read?.[STATE_MARK] && typeof read.state === "object" ? read.state : null;
  } catch {
    return null;
  }
}

async function takeFigure(self, form) {
  const { each, ...asked } = viewQuestion(self);
  const { meta, start, buffer } = await answered(self, "view", { ...self.answer.question, ...asked, each: true });
  const view = exactView(self, { meta, numbers: floats(buffer, start) });
  const heads = chosenHeads(self).map(([layer, head]) => `Layer ${layer} · Head ${head}`);
  const title = self.takeaway.title.value.trim();
  const figure = figureOf(view, heads, { picture: self.choice.picture, width: Number(self.takeaway.width.value), title });
  const name = `${fileName(self)}.${form}`;
  if (form === "svg") saveFile(name, "image/svg+xml", svgOf(figure));
  else if (form === "png") saveBlob(name, await pngOf(figure));
  else saveBlob(name, await fileFrom(self, "figure", pdfQuestion(figure)));
  sayTaken(self, `${name} is saved, ${figure.width} × ${Math.round(figure.height)} mm.`);
}

async function fileFrom(self, route, body) {
  const { meta, start, buffer } = await answered(self, route, body);
  return new File([new Uint8Array(buffer, start)], meta.name, { type: meta.type });
}

async function takeFile(self, route, more) {
  const file = await fileFrom(self, route, { ...chosenState(self), ...more });
  saveBlob(file.name, file);
  sayTaken(self, `${file.name} is saved.`);
}

async function takeProgram(self, language) {
  const { meta } = await answered(self, "program", chosenState(self));
  await copied(self, meta[language], language === "python" ? "The Python program is copied." : "The lines for a shell are copied.");
}

/** By what a saved page finds its picture again. */
function pageKey(self) {
  const { each, ...asked } = viewQuestion(self);
  return JSON.stringify(asked);
}

function pathOfHead(self) {
  const grid = currentGrid(self);
  const [[layer, head]] = grid ? chosenHeads(self) : [[0, 0]];
  return grid ? `${grid.stack}.${layer}.${grid.kind}.q[${head}]` : "logits";
}
