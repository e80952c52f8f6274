// The key/value cache: a strip for each layer, growing by a cell with each token; and what a step costs.

function sizeWords(bytes) {
  if (bytes < 1_000) return `${bytes} bytes`;
  const [unit, size] = bytes < 1e6 ? ["kB", 1e3] : bytes < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${(bytes / size).toFixed(bytes / size < 10 ? 2 : 1)} ${unit}`;
}

function drawCache(self) {
  const { remember, cacheWords, cacheStage } = self.parts;
  const record = newest(self);
  if (!record || record.done) {
    self.parts.cache.hidden = !record || !self.cache;
    return;
  }
  self.parts.cache.hidden = false;
  const { layers, why } = record.cache;
  self.cache = record.cache;
  remember.hidden = Boolean(why);
  remember.setAttribute("aria-checked", String(self.remember));
  remember.lastElementChild.textContent = self.remember ? "kept" : "thrown away after each step";
  cacheStage.hidden = !layers.length;
  if (why) cacheWords.textContent = `Nothing can be kept. ${why}`;
  else tellCache(self, record);
  if (layers.length) paintStrips(self, record);
  paintTimes(self);
}

function tellCache(self, record) {
  const { layers, heads } = record.cache;
  const [one] = layers;
  const total = layers.reduce((sum, { bytes }) => sum + bytes, 0);
  const numbers = layers.length * one.heads * (one.key_channels + one.value_channels);
  const token = total / one.positions;
  const told = [
    `Each token leaves a key and a value in every layer and head: ${layers.length} layers × ${one.heads} heads × `,
    `(${one.key_channels} + ${one.value_channels}) = ${numbers.toLocaleString("en")} numbers of ${one.width} bytes, ${sizeWords(token)}. `,
    `Kept of ${one.positions} tokens: ${sizeWords(total)}; of ${record.context.toLocaleString("en")}, as many as the model reads, ${sizeWords(token * record.context)}. `,
  ];
  if (one.heads < heads) {
    told.push(`${heads} heads share ${one.heads} keys and values: with one for each head it would be ${sizeWords((total * heads) / one.heads)}, ${(heads / one.heads).toLocaleString("en")} times as much.`);
  }
  self.parts.cacheWords.textContent = told.join("");
}

/** How many positions the picture has room for: it doubles when it is full. */
function room(length, context) {
  let cells = 32;
  while (cells < length) cells *= 2;
  return Math.min(cells, context);
}

function paintStrips(self, record) {
  const { layers, heads } = record.cache;
  const width = self.parts.cacheStage.clientWidth;
  if (!width) return;
  const style = styleOf(self.parts.root);
  const cells = room(record.length, record.context);
  const high = Math.min(Math.max(160 / layers.length, 4), 20);
  const left = high >= 10 ? 26 : 0;
  const cell = (width - left) / cells;
  const context = sheet(self.parts.strips, width, high * layers.length + 18);
  context.font = `10px ${style.font}`;
  context.textBaseline = "middle";
  layers.forEach((layer, row) => {
    const top = row * high;
    const full = high - 2;
    context.fillStyle = style.quiet;
    context.textAlign = "right";
    if (left) context.fillText(row, left - 8, top + high / 2);
    context.globalAlpha = 0.1;
    context.fillRect(left, top, width - left, full);
    const tall = (full * layer.heads) / heads; // what the other heads would need stays empty
    for (let position = 0; position < layer.positions; position++) {
      const fresh = position >= layer.positions - record.read;
      const written = position >= self.prompt.length;
      context.globalAlpha = fresh ? 1 : written ? 0.62 : 0.42;
      context.fillStyle = fresh || written ? style.beam : style.quiet;
      context.fillRect(left + position * cell, top + full - tall, Math.max(cell - (cell > 3 ? 1 : 0), 0.6), tall);
    }
    context.globalAlpha = 1;
  });
  context.fillStyle = style.quiet;
  const base = high * layers.length + 9;
  context.textAlign = "left";
  context.fillText(left ? "layer" : "", 0, base);
  context.fillText("token 0", left, base);
  context.textAlign = "right";
  context.fillText(`token ${cells - 1}`, width, base);
  const told = `${layers.length} layers, ${record.length} tokens kept in each; ${record.read} read in the last step`;
  self.parts.strips.setAttribute("aria-label", told);
  self.parts.strips.title = `${told}. Grey: the prompt; amber: written; bright: read just now.`;
}

/** A bar for each step of the line: how long the server took. */
function paintTimes(self) {
  const steps = self.written.map((_, index) => recordAt(self, index)).concat(newest(self)).filter((record) => record && !record.done);
  const shown = steps.slice(-40);
  const width = self.parts.times.parentElement.clientWidth;
  if (!width || !shown.length) return;
  const style = styleOf(self.parts.root);
  const context = sheet(self.parts.times, width, 64);
  const times = shown.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const longest = times.at(-1);
  const top = Math.min(longest, 4 * times[times.length >> 1]); // what is longer is cut, so that the others can be seen
  const step = Math.min(width / 40, 14);
  shown.forEach(({ milliseconds, read }, place) => {
    const tall = Math.max((Math.min(milliseconds, top) / top) * 60, 1);
    context.fillStyle = read === 1 ? style.beam : style.quiet;
    context.fillRect(place * step, 62 - tall, step - 1.5, tall);
    context.fillStyle = style.surface;
    if (milliseconds > top * 1.01) context.fillRect(place * step, 9, step, 3);
  });
  const last = shown.at(-1);
  const told = `The last step read ${last.read} of ${last.length} tokens in ${last.milliseconds.toFixed(1)} ms. Longest here: ${longest.toFixed(1)} ms.`;
  self.parts.timesWords.textContent = told;
  self.parts.times.setAttribute("aria-label", told);
}

/** How fast it goes: by the clock while playing, and by the server's own time of the last steps. */
function drawRate(self) {
  const own = self.written.slice(-8).map((_, index, part) => recordAt(self, self.written.length - part.length + index + 1));
  const known = own.filter((record) => record && !record.done).map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const told = [];
  const pace = (self.pace || []).slice(-8);
  if (pace.length > 1) told.push(`${(1_000 / (pace.reduce((a, b) => a + b) / pace.length)).toFixed(1)} tokens/s`);
  if (known.length) told.push(`${known[known.length >> 1].toFixed(1)} ms a step`);
  self.parts.rate.textContent = told.join(" · ");
}
