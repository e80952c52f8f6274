// Ablate all: each head off in turn, asked layer by layer until all are done or somebody stops it.

import { currentGrid } from "../../../../model/rendering/static/state/head_selection.js";
import { formatSigned } from "../../../../model/rendering/static/ui/charts.js";
import { createElement, formatPercent, inlineText } from "../../../../model/rendering/static/ui/dom.js";
import { activeTab } from "../tabs.js";
import { answerPosition, drawCellTable, drawLayers, drawRankedBars, isCurrentHead, layerElement, selectHeadOf, showLayersMessage } from "./layers_tab.js";

const HELP = "Blue: the answer is less likely without the head. Orange: more likely. Click a head to choose it.";

/** What is known of one attention's heads for one answer: filled while it runs, kept with the answer on the screen. */
function ablationState(self) {
  const grid = currentGrid(self);
  const key = `${grid.name} ${answerPosition(self)} ${self.choice.target}`;
  const store = (self.answer.ablations ??= new Map());
  if (!store.has(key)) store.set(key, { changes: Array.from({ length: grid.layers }, () => Array(grid.heads).fill(null)), told: null, running: null });
  return store.get(key);
}

export function drawAblation(self) {
  const grid = currentGrid(self);
  if (!grid) return showLayersMessage(self, "This model has no layers, so it has no heads to turn off.");
  if (!self.answer.predictions.length) return showLayersMessage(self, "This model ends without a head, so there is no answer that its heads could change.");
  const state = ablationState(self);
  const done = state.changes.flat().filter((value) => value !== null).length;
  drawProgress(self, grid, state, done);
  const most = Math.max(...state.changes.flat().map((value) => Math.abs(value ?? 0)), 1e-9);
  const rows = state.changes.map((line, layer) => ({
    label: `L${layer}`,
    cells: line.map((value, head) => ({
      value, layer, head, title: `Layer ${layer}, head ${head}`, chosen: isCurrentHead(self, layer, head), testid: `ablation-${layer}-${head}`,
    })),
  }));
  const reading = layerElement(self, "ablation-reading");
  const read = (cell) => {
    if (!cell || cell.value === null) return (reading.textContent = HELP);
    const before = Math.exp(state.told.before);
    reading.textContent = `${cell.title} off: ${formatSigned(cell.value)} nats, from ${formatPercent(before)} to ${formatPercent(before * Math.exp(cell.value))}`;
  };
  drawCellTable(self, layerElement(self, "ablation"), Array.from({ length: grid.heads }, (_, head) => head), rows, {
    most, read, pick: (cell) => selectHeadOf(self, cell.layer, cell.head),
  });
  read(null);
  const order = rows.flatMap((row) => row.cells).filter((cell) => cell.value !== null).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const entries = order.slice(0, 10).map((cell) => ({ title: cell.title, value: cell.value, pick: () => selectHeadOf(self, cell.layer, cell.head) }));
  layerElement(self, "ablation-ranked").parentElement.hidden = !entries.length;
  drawRankedBars(layerElement(self, "ablation-ranked"), entries);
}

function drawProgress(self, grid, state, done) {
  const all = grid.layers * grid.heads;
  const button = layerElement(self, "ablate");
  const bar = layerElement(self, "ablate-progress");
  button.textContent = state.running ? "Stop" : done === 0 ? "Turn each head off in turn" : done < all ? "Go on" : "Done";
  button.disabled = !state.running && done === all;
  button.onclick = () => (state.running ? stopAblation(self, state) : runAblation(self, grid, state));
  bar.hidden = done === all || (!state.running && done === 0);
  bar.value = done / all;
  const status = layerElement(self, "ablate-status");
  if (state.problem) status.textContent = state.problem;
  else if (!state.told) status.textContent = `${all} heads`;
  else status.replaceChildren(`${done} of ${all} heads; with all of them `, createElement("bdi", "token", inlineText(state.told.piece)), ` has ${formatPercent(Math.exp(state.told.before))}`);
}

function stopAblation(self, state) {
  state.running?.abort();
  state.running = null;
  drawLayers(self);
}

/** Asks for one layer after the other, a few heads at a time, from where it stopped; another question ends it. */
async function runAblation(self, grid, state) {
  const { answer } = self;
  const running = (state.running = new AbortController());
  const [query, token] = [answerPosition(self), self.choice.target];
  state.problem = "";
  drawLayers(self);
  try {
    for (const [layer, line] of state.changes.entries()) {
      for (let first = line.indexOf(null); first >= 0; first = line.indexOf(null)) {
        if (answer !== self.answer || running.signal.aborted) return;
        const asked = { ...answer.question, attention: `${grid.stack}.${layer}.${grid.kind}`, query, token, first };
        const { meta, start, buffer } = await self.post("ablation", asked, running.signal);
        if (meta.error) throw new Error(meta.error);
        state.told = meta;
        new Float32Array(buffer, start).forEach((change_, offset) => (line[first + offset] = change_));
        if (answer === self.answer && activeTab(self) === "layers") self.redraw();
      }
    }
  } catch (error) {
    if (error.name !== "AbortError") state.problem = error instanceof TypeError ? "The server does not answer. Is Headlight still running?" : error.message;
  } finally {
    if (state.running === running) state.running = null;
    if (answer === self.answer && activeTab(self) === "layers") self.redraw();
  }
}
