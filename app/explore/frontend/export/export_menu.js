// Taking away what is on the screen: links, the whole state, figures, numbers, a file that draws itself, programs.

import { fileName } from "../../../../model/rendering/static/plots/number_table.js";
import { exactMatrix, matrixQuery } from "../../../../model/rendering/static/state/head_matrix.js";
import { currentGrid, selectedHeads } from "../../../../model/rendering/static/state/head_selection.js";
import { saveBlob, saveFile } from "../../../../model/rendering/static/ui/clipboard.js";
import { readFloats } from "../../../../model/rendering/static/ui/wire.js";
import { createFigure } from "./figure.js";
import { figurePng, figureSvg, pdfRequest } from "./figure_files.js";

const STATE_FORMAT = "headlight";
const MAX_STATE_SIZE = 4 << 20; // bytes of a state file
const FIELD_NAMES = { text: "the text", source: "the source", other: "the other text", written: "the written text", beside: "the other side" };

export function createExportMenu(self, named) {
  const [button, menu] = [named("takeaway"), named("takeaway-menu")];
  self.takeaway = { button, menu, told: named("takeaway-told"), copied: named("takeaway-copied"), path: named("takeaway-path"), width: named("figure-width"), title: named("figure-title") };
  button.onclick = () => showMenu(self, menu.hidden);
  menu.onkeydown = (event) => {
    event.stopPropagation(); // letters typed here are no keys of the pictures
    if (event.key !== "Escape") return;
    showMenu(self, false);
    button.focus();
  };
  const away = (event) => !menu.hidden && !event.composedPath().some((part) => part === menu || part === button) && showMenu(self, false);
  document.addEventListener("pointerdown", away);
  const actions = {
    "take-link": () => copyLink(self), "take-embed": () => copyEmbed(self), "take-state": () => saveState(self),
    "take-svg": () => saveFigure(self, "svg"), "take-png": () => saveFigure(self, "png"), "take-pdf": () => saveFigure(self, "pdf"),
    "take-page": () => saveFileFrom(self, "page", { asked: pageView(self) }), "take-python": () => copyProgram(self, "python"), "take-shell": () => copyProgram(self, "shell"),
    ...Object.fromEntries(["csv", "json", "npz"].map((form) => [`take-${form}`, () => saveFileFrom(self, "numbers", { form, path: self.takeaway.path.value })])),
  };
  for (const [name, take] of Object.entries(actions)) named(name).onclick = () => runAction(self, named(name), take);
  named("open-state").onchange = (event) => runAction(self, event.target, () => openState(self, event.target));
  return () => document.removeEventListener("pointerdown", away);
}

function showMenu(self, open) {
  const { button, menu, copied } = self.takeaway;
  menu.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
  if (!open) return;
  copied.hidden = true;
  showStatus(self, "");
  self.takeaway.path.placeholder = `of the picture; or of a path: ${headPath(self)}`;
  menu.querySelector("button").focus();
}

function showStatus(self, ...told) {
  self.takeaway.told.replaceChildren(...told);
}

/** Does one thing at a time, and says what came of it. */
async function runAction(self, control, take) {
  if (!self.answer || self.taking) return;
  self.taking = true;
  control.classList.add("busy");
  showStatus(self, "");
  try {
    await take();
  } catch (error) {
    showStatus(self, error instanceof TypeError ? "The server does not answer. Is Headlight still running?" : error.message);
  } finally {
    self.taking = false;
    control.classList.remove("busy");
  }
}

/** All that was chosen, as the server reads it. */
function currentState(self) {
  return { ...self.settings, ...self.choice };
}

async function askRoute(self, route, body) {
  const found = await self.post(route, body);
  if (found.meta.error) throw new Error(found.meta.error);
  return found;
}

/** Puts text into the clipboard, and shows it: where there is no clipboard, it is marked to be copied. */
async function copyToClipboard(self, text, said) {
  const box = self.takeaway.copied;
  box.hidden = false;
  box.value = text;
  box.rows = Math.min(text.split("\n").length, 9);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    box.select(); // a page that came over plain http has none
    if (!document.execCommand("copy")) return showStatus(self, "Press Ctrl+C to copy what is marked.");
  }
  showStatus(self, said);
}

async function linkTo(self, more) {
  const { meta } = await askRoute(self, "link", { ...currentState(self), presenter: "", bare: "", ...more });
  const link = new URL(location.href);
  [link.search, link.hash] = [meta.query, ""];
  const lost = meta.lost.map((name) => FIELD_NAMES[name] || name).join(" and ");
  return { link: link.href, lost: lost && ` It leaves out ${lost}, too long for a link: save the state as a file instead.` };
}

async function copyLink(self) {
  const { link, lost } = await linkTo(self, {});
  await copyToClipboard(self, link, `The link is copied.${lost || " Who opens it sees the same."}`);
}

async function copyEmbed(self) {
  const { link, lost } = await linkTo(self, { bare: "1" });
  const source = link.replace(/&/g, "&amp;").replace(/"/g, "&quot;");
  const frame = `<iframe src="${source}" title="Headlight" width="100%" height="760" style="border: 0" sandbox="allow-scripts allow-same-origin"></iframe>`;
  await copyToClipboard(self, frame, `The frame for another page is copied.${lost}`);
}

function saveState(self) {
  const state = { ...currentState(self), bare: "" };
  saveFile("headlight-state.json", "application/json", JSON.stringify({ [STATE_FORMAT]: 1, state }, null, 1));
  showStatus(self, "The state is saved, the whole text with it. Open it here again at any time.");
}

async function openState(self, input) {
  const [file] = input.files;
  input.value = "";
  if (!file) return;
  if (file.size > MAX_STATE_SIZE) throw new Error("This file is too large for a saved state.");
  const state = parseState(await file.text());
  if (!state) throw new Error("This file holds no state of Headlight. Save one here first.");
  showMenu(self, false);
  self.reporter.submit(state); // the page checks every choice, and hands back what fits
}

function parseState(text) {
  try {
    const read = JSON.parse(text);
    return read?.[STATE_FORMAT] && typeof read.state === "object" ? read.state : null;
  } catch {
    return null;
  }
}

async function saveFigure(self, form) {
  const { each, ...asked } = matrixQuery(self);
  const { meta, start, buffer } = await askRoute(self, "view", { ...self.answer.question, ...asked, each: true });
  const view = exactMatrix(self, { meta, numbers: readFloats(buffer, start) });
  const heads = selectedHeads(self).map(([layer, head]) => `Layer ${layer} · Head ${head}`);
  const title = self.takeaway.title.value.trim();
  const figure = createFigure(view, heads, { picture: self.choice.picture, width: Number(self.takeaway.width.value), title });
  const name = `${fileName(self)}.${form}`;
  if (form === "svg") saveFile(name, "image/svg+xml", figureSvg(figure));
  else if (form === "png") saveBlob(name, await figurePng(figure));
  else saveBlob(name, await fetchFile(self, "figure", pdfRequest(figure)));
  showStatus(self, `${name} is saved, ${figure.width} × ${Math.round(figure.height)} mm.`);
}

async function fetchFile(self, route, body) {
  const { meta, start, buffer } = await askRoute(self, route, body);
  return new File([new Uint8Array(buffer, start)], meta.name, { type: meta.type });
}

async function saveFileFrom(self, route, more) {
  const file = await fetchFile(self, route, { ...currentState(self), ...more });
  saveBlob(file.name, file);
  showStatus(self, `${file.name} is saved.`);
}

async function copyProgram(self, language) {
  const { meta } = await askRoute(self, "program", currentState(self));
  await copyToClipboard(self, meta[language], language === "python" ? "The Python program is copied." : "The lines for a shell are copied.");
}

/** By what a saved page finds its picture again. */
function pageView(self) {
  const { each, ...asked } = matrixQuery(self);
  return JSON.stringify(asked);
}

function headPath(self) {
  const grid = currentGrid(self);
  const [[layer, head]] = grid ? selectedHeads(self) : [[0, 0]];
  return grid ? `${grid.stack}.${layer}.${grid.kind}.q[${head}]` : "logits";
}
