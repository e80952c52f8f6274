var headlight = (() => {
  // ../../model/rendering/static/state/head_selection.js
  function currentGrid(self) {
    const grids = self.answer?.grids || [];
    return grids.find((grid) => grid.name === self.choice.attention) || grids[0];
  }
  function parseHead(name) {
    return name.split(".").map(Number);
  }
  function selectedHeads(self) {
    const { heads, layer, head } = self.choice;
    return heads.length ? heads.map(parseHead) : [[layer, head]];
  }

  // ../../model/rendering/static/state/token_selection.js
  function queryTokens(self) {
    const { tokens, sourceTokens } = self.answer;
    return currentGrid(self).queries === "source" ? sourceTokens : tokens;
  }
  function queryPosition(self) {
    const tokens = queryTokens(self);
    const { query } = self.choice;
    if (query >= 0 && query < tokens.length) return query;
    const masked = self.answer.maskable ? tokens.findIndex((token) => token.masked) : -1;
    return masked >= 0 ? masked : tokens.length - 1;
  }
  function activeQueries(self) {
    const hovered = self.hovered?.query;
    if (hovered !== null && hovered !== void 0) return [hovered];
    const count = queryTokens(self).length;
    const locked = self.choice.locked.filter((place) => place < count);
    return locked.length ? locked : [queryPosition(self)];
  }
  function lineIndices(index, places) {
    return [...new Set(places.map((place) => index.get(place)).filter((line) => line !== void 0))];
  }
  function activeRows(self, view) {
    return lineIndices(view.rowOf, activeQueries(self));
  }
  function hoveredColumn(self, view) {
    const key = self.hovered?.key;
    return key === null || key === void 0 ? void 0 : view.columnOf.get(key);
  }

  // ../../model/rendering/static/ui/colours.js
  var CIVIDIS = [
    [0, 34, 78],
    [0, 42, 102],
    [18, 50, 112],
    [40, 58, 109],
    [56, 66, 108],
    [69, 74, 108],
    [81, 82, 110],
    [92, 91, 114],
    [102, 99, 118],
    [112, 108, 120],
    [123, 117, 121],
    [134, 126, 120],
    [146, 135, 119],
    [158, 145, 116],
    [170, 155, 112],
    [182, 165, 106],
    [194, 175, 99],
    [207, 186, 90],
    [220, 197, 79],
    [233, 208, 68],
    [246, 219, 70],
    [254, 232, 56]
  ];
  var PURPLE_ORANGE = [
    [45, 0, 75],
    [84, 39, 136],
    [128, 115, 172],
    [178, 171, 210],
    [216, 218, 235],
    [255, 255, 255],
    [254, 224, 182],
    [253, 184, 99],
    [224, 130, 20],
    [179, 88, 6],
    [127, 59, 8]
  ];
  var HEAD_COLOURS = ["#e0951f", "#0072b2", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#8d97a8", "#b3a100"];
  var NEGATIVE_COLOUR = "#8073ac";
  function colour(share, scale = CIVIDIS) {
    const place = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
    const low = Math.min(Math.floor(place), scale.length - 2);
    const rest = place - low;
    return scale[low].map((value, channel) => Math.round(value + rest * (scale[low + 1][channel] - value)));
  }
  function colourTable(scale) {
    return Uint32Array.from({ length: 256 }, (_, code) => {
      if (code === 0) return 0;
      const [red, green, blue] = colour((code - 1) / 254, scale);
      return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
    });
  }
  var WEIGHT_COLOURS = colourTable(CIVIDIS);
  var SIGNED_COLOURS = colourTable(PURPLE_ORANGE);
  var WEIGHT_OF_CODE = Float32Array.from({ length: 256 }, (_, code) => code === 0 ? NaN : ((code - 1) / 254) ** 2);
  function paintCodes(canvas, codes, rows, columns, ink = WEIGHT_COLOURS) {
    if (canvas.width !== columns) canvas.width = columns;
    if (canvas.height !== rows) canvas.height = rows;
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let cell = 0; cell < rows * columns; cell++) pixels[cell] = ink[codes[cell]];
    context.putImageData(image, 0, 0);
  }

  // ../../model/rendering/static/ui/dom.js
  function createElement(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== void 0) element.textContent = text;
    return element;
  }
  function updateChildren(parent, ...children) {
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
      for (const other of parent.querySelectorAll(`${again.localName}[tabindex="0"]`)) other.tabIndex = -1;
      again.tabIndex = 0;
    }
    again?.focus({ preventScroll: true });
  }
  function visibleText(piece) {
    const signs = piece.replace(/ /g, "\xB7").replace(/\n/g, "\u23CE").replace(/\t/g, "\u2192");
    return signs.replace(/[\0-\x1f]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 9216)) || "\u2205";
  }
  function inlineText(piece) {
    return visibleText(piece.replace(/^ (?=.)/, ""));
  }
  function formatPercent(share) {
    if (!Number.isFinite(share)) return "\u2013";
    const value = share * 100;
    if (value === 0) return "0 %";
    return value < 0.05 ? "<0.1 %" : `${value.toFixed(1)} %`;
  }
  function hidpiContext(canvas, width, height) {
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
  function truncateText(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    const letters = [...text];
    while (letters.length > 1 && context.measureText(`${letters.join("")}\u2026`).width > width) letters.pop();
    return `${letters.join("")}\u2026`;
  }

  // ../../model/rendering/static/state/head_matrix.js
  var FORBIDDEN = 0;
  var SHOWN = 1;
  var LEFT_OUT = 2;
  var MAX_LINE_HEADS = 16;
  function cellIndex(view, row, column) {
    const { height, width, rows, columns } = view;
    const down = height === rows.names.length ? row : Math.min(Math.floor(row * height / rows.names.length), height - 1);
    const right = width === columns.names.length ? column : Math.min(Math.floor(column * width / columns.names.length), width - 1);
    return down * width + right;
  }
  function valueAt(view, row, column, numbers = view.numbers) {
    return numbers[cellIndex(view, row, column)];
  }
  function stateAt(view, row, column) {
    const cell = cellIndex(view, row, column);
    if (view.states) return view.states[cell];
    return Number.isNaN(view.numbers[cell]) ? FORBIDDEN : SHOWN;
  }
  function scaleFraction(view, number) {
    const share = Math.min(Math.max((number - view.low) / (view.high - view.low || 1), 0), 1);
    return view.signed || view.scale === "linear" ? share : Math.sqrt(share);
  }
  function magnitude(view, number) {
    if (!Number.isFinite(number)) return 0;
    return view.signed ? Math.min(Math.abs(number) / (view.high || 1), 1) : Math.min(Math.max((number - view.low) / (view.high - view.low || 1), 0), 1);
  }
  function matrixCodes(view) {
    view.codes ??= Uint8Array.from(view.numbers, (number, cell) => {
      const state = view.states ? view.states[cell] : Number.isNaN(number) ? FORBIDDEN : SHOWN;
      return state === SHOWN ? 1 + Math.round(254 * scaleFraction(view, number)) : 0;
    });
    return view.codes;
  }
  function columnSums(view, rows) {
    return view.columns.names.map((_, column) => {
      let [sum, seen] = [0, false];
      for (const row of rows) {
        if (stateAt(view, row, column) !== SHOWN) continue;
        sum += valueAt(view, row, column);
        seen = true;
      }
      return seen ? sum : NaN;
    });
  }
  function formatValue(view, number, places = 5) {
    if (!Number.isFinite(number)) return "\u2013";
    if (!view.exact) return `\u2248 ${number.toFixed(2)}`;
    const size = Math.abs(number);
    const digits = size >= 10 ** -places * 5 || size === 0 ? size.toFixed(view.scale === "linear" && !view.signed ? 4 : places) : size.toExponential(1);
    return `${number < 0 ? "\u2212" : view.signed ? "+" : ""}${digits}`;
  }
  function tokensAt(view, row, column) {
    return { query: view.rows.tokens[row]?.[0] ?? null, key: view.columns.tokens[column]?.[0] ?? null };
  }

  // ../../model/rendering/static/heads/measurements.js
  function plotHeight(self) {
    if (self.style.type > 1) return Math.max(innerHeight - 470, 280);
    return self.choice.size === "large" ? 540 : 430;
  }

  // ../../model/rendering/static/plots/attention_lines.js
  var MANY_TOKENS = 100;
  var LINES_PER_ROW = 6;
  function layoutLines(context, self, view, width) {
    const large = self.choice.size === "large";
    const { type } = self.style;
    const rows = Math.max(view.rows.names.length, view.columns.names.length);
    const step = rows > 200 ? Math.max(2600 / rows, 3) : Math.min(Math.max((plotHeight(self) - 40) / rows, 13 * type), (large ? 40 : 28) * type);
    const size = (step < 16 * type ? 10 : 12.5) * type;
    context.font = `600 ${size}px ${self.style.font}`;
    const longest = (names) => Math.max(...names.slice(0, 400).map((name) => context.measureText(inlineText(name)).width), 30);
    const side = (names) => Math.min(longest(names) + 14, width * 0.34);
    return { rows, step, left: side(view.rows.names), right: width - side(view.columns.names), top: 14 + 12 * type, width, size };
  }
  function drawAttentionLines(self, view, width) {
    const sizes = self.lines = layoutLines(self.paper.getContext("2d"), self, view, width);
    const context = hidpiContext(self.paper, width, sizes.top + sizes.rows * sizes.step + 6);
    context.textBaseline = "middle";
    const rows = activeRows(self, view);
    const column = hoveredColumn(self, view);
    drawTokenColumn(context, self, view.rows.names, sizes, "right", sizes.left - 8, "query", rows);
    drawTokenColumn(context, self, view.columns.names, sizes, "left", sizes.right + 8, "key", column === void 0 ? [] : [column]);
    const chosen = lineFilter(self, view);
    const heads = view.each.length > 1 ? view.each.slice(0, MAX_LINE_HEADS) : [view.numbers];
    for (const strong of [false, true]) {
      heads.forEach((numbers, place) => {
        const head = heads.length > 1 ? { colour: HEAD_COLOURS[place % HEAD_COLOURS.length], broken: place >= HEAD_COLOURS.length } : null;
        view.rows.names.forEach((_, row) => drawRowLines(context, self, view, sizes, { row, numbers, head, strong, chosen }));
      });
    }
  }
  function lineFilter(self, view) {
    const column = hoveredColumn(self, view);
    const hovered = self.hovered?.query !== null && self.hovered?.query !== void 0;
    const { locked } = self.choice;
    if (!hovered && !locked.length) return column === void 0 ? null : (_, other) => other === column;
    const rows = new Set(activeRows(self, view));
    return (row, other) => rows.has(row) && (column === void 0 || other === column);
  }
  function drawTokenColumn(context, self, names, sizes, align, x, title, hot) {
    context.textAlign = align;
    context.font = `600 ${11 * self.style.type}px ${self.style.font}`;
    context.fillStyle = self.style.quiet;
    context.fillText(title, x, 10 * self.style.type);
    const every = Math.max(Math.ceil(11 * self.style.type / sizes.step), 1);
    names.forEach((name, line) => {
      const marked = hot.includes(line);
      if (line % every && !marked) return;
      context.font = `${marked ? "600 " : ""}${sizes.size}px ${self.style.font}`;
      context.fillStyle = marked ? self.style.ink : self.style.quiet;
      context.fillText(truncateText(context, inlineText(name), (align === "right" ? x : sizes.width - x) - 4), x, sizes.top + (line + 0.5) * sizes.step);
    });
  }
  function visibleKeys(view, row, numbers) {
    const count = view.columns.names.length;
    const ends = [];
    for (let column = 0; column < count; column++) {
      if (view.each.length < 2 && stateAt(view, row, column) !== SHOWN) continue;
      const number = valueAt(view, row, column, numbers);
      if (magnitude(view, number) > 0.01) ends.push({ column, number });
    }
    if (count <= MANY_TOKENS) return ends;
    return ends.sort((one, other) => magnitude(view, other.number) - magnitude(view, one.number)).slice(0, LINES_PER_ROW);
  }
  function rowLines(view, numbers) {
    view.fans ??= /* @__PURE__ */ new Map();
    if (!view.fans.has(numbers)) view.fans.set(numbers, view.rows.names.map((_, row) => visibleKeys(view, row, numbers)));
    return view.fans.get(numbers);
  }
  function drawRowLines(context, self, view, sizes, { row, numbers, head, strong, chosen }) {
    const from = sizes.top + (row + 0.5) * sizes.step;
    const middle = (sizes.left + sizes.right) / 2;
    context.setLineDash(head?.broken ? [4, 3] : []);
    for (const { column, number } of rowLines(view, numbers)[row]) {
      const strength = magnitude(view, number);
      if ((!chosen || chosen(row, column)) !== strong) continue;
      const to = sizes.top + (column + 0.5) * sizes.step;
      context.strokeStyle = head ? head.colour : view.signed && number < 0 ? NEGATIVE_COLOUR : self.style.beam;
      context.globalAlpha = Math.min(strength * 1.1, 1) * (strong ? 1 : 0.06);
      context.lineWidth = (0.5 + 3.5 * strength) * self.style.type;
      context.beginPath();
      context.moveTo(sizes.left, from);
      context.bezierCurveTo(middle, from, middle, to, sizes.right, to);
      context.stroke();
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
  }
  function lineTokenAt(self, event) {
    const frame = self.parts.canvas.getBoundingClientRect();
    const line = Math.floor((event.clientY - frame.top - self.lines.top) / self.lines.step);
    const key = event.clientX - frame.left > self.lines.right;
    const { rows, columns } = self.shown;
    if (line < 0 || line >= (key ? columns : rows).names.length) return null;
    return key ? { query: null, key: columns.tokens[line][0] } : { query: rows.tokens[line][0], key: null };
  }

  // ../../model/rendering/static/ui/wire.js
  function fromBase64(base64) {
    return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  }
  async function inflate(base64) {
    const stream = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // ../../model/rendering/static/plots/image_overlay.js
  var DARKNESS = 0.8;
  var STRIP_HEIGHT = 26;
  var MAX_HEIGHT = 560;
  function scaleText(view) {
    return `${view.signed ? "orange above zero, purple below" : "bright"}, on a square-root scale up to the ${view.signed ? "largest" : "brightest patch"}`;
  }
  function loadedImage(self) {
    const { photo: brought } = self.answer.patches;
    if (brought) return embeddedImage(self, brought);
    const name = self.answer.question.image || self.pictures[0];
    if (self.photo?.name === name) return self.photo.ready ? self.photo.image : null;
    const image = new Image();
    const photo = self.photo = { name, image, ready: false };
    image.onload = () => {
      photo.ready = true;
      if (self.photo === photo) self.redraw();
    };
    image.src = self.imageUrl(name);
    return null;
  }
  function embeddedImage(self, brought) {
    if (self.photo) return self.photo.image;
    self.photo = { image: null };
    inflate(brought.bytes).then((bytes) => {
      const image = document.createElement("canvas");
      Object.assign(image, { width: brought.width, height: brought.height });
      const context = image.getContext("2d");
      const pixels = context.createImageData(brought.width, brought.height);
      for (let pixel = 0; pixel < brought.width * brought.height; pixel++) {
        pixels.data.set([...bytes.subarray(pixel * 3, pixel * 3 + 3), 255], pixel * 4);
      }
      context.putImageData(pixels, 0, 0);
      self.photo.image = image;
      self.redraw();
    });
    return null;
  }
  function imageSize(image) {
    return [image.naturalWidth ?? image.width, image.naturalHeight ?? image.height];
  }
  function layoutImage(self, image, width) {
    const { rows, columns, region } = self.answer.patches;
    const [wide, high] = imageSize(image);
    const [across, down] = [(region[2] - region[0]) * wide, (region[3] - region[1]) * high];
    const scale = Math.min(width / across, MAX_HEIGHT / down);
    return { rows, columns, left: 0, top: STRIP_HEIGHT + 6, width: across * scale, height: down * scale };
  }
  function drawImageOverlay(self, view, width) {
    const image = loadedImage(self);
    if (!image) return;
    const laid = self.framed = layoutImage(self, image, width);
    const context = hidpiContext(self.paper, width, Math.ceil(laid.top + laid.height + 2));
    const [left, top, right, bottom] = self.answer.patches.region;
    const [across, down] = imageSize(image);
    context.drawImage(
      image,
      left * across,
      top * down,
      (right - left) * across,
      (bottom - top) * down,
      laid.left,
      laid.top,
      laid.width,
      laid.height
    );
    const sums = columnSums(view, activeRows(self, view));
    const most = Math.max(...sums.map((sum, column) => isPatch(self, view, column) && Number.isFinite(sum) ? Math.abs(sum) : 0), 1e-12);
    sums.forEach((sum, column) => {
      for (const place of view.columns.tokens[column]) shadeToken(self, context, laid, view, place, sum, most);
    });
    outlineQueries(self, context, laid, view);
    context.fillStyle = self.style.quiet;
    context.font = `12px ${self.style.font}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const told = view.signed ? `largest \xB1 ${formatAmount(view, most).replace("+", "")}` : `brightest patch ${formatAmount(view, most)}`;
    context.fillText(told, laid.width, STRIP_HEIGHT / 2);
  }
  function formatAmount(view, number) {
    return view.scale === "share" ? formatPercent(number) : formatValue(view, number, 3);
  }
  function isPatch(self, view, column) {
    return view.columns.tokens[column][0] >= self.answer.patches.first;
  }
  function tokenBox(self, laid, place) {
    const { first, rows, columns } = self.answer.patches;
    if (place < first) return [place * 100, 2, 96, STRIP_HEIGHT - 4];
    const [row, column] = [Math.floor((place - first) / columns), (place - first) % columns];
    const [width, height] = [laid.width / columns, laid.height / rows];
    return [laid.left + column * width, laid.top + row * height, width, height];
  }
  function shadeToken(self, context, laid, view, place, sum, most) {
    const box = tokenBox(self, laid, place);
    const patch = place >= self.answer.patches.first;
    const strength = Number.isFinite(sum) ? Math.min(Math.sqrt(Math.abs(sum) / (patch ? most : view.high || 1)), 1) : 0;
    if (patch) {
      context.fillStyle = `rgb(8 10 16 / ${DARKNESS * (view.signed ? 0.75 : 1 - strength)})`;
      context.fillRect(...box);
    }
    if (!patch || view.signed) {
      context.globalAlpha = strength * 0.85;
      context.fillStyle = sum < 0 ? NEGATIVE_COLOUR : self.style.beam;
      context.fillRect(...box);
      context.globalAlpha = 1;
    }
    if (!patch) labelToken(self, context, box, self.answer.tokens[place], formatAmount(view, sum));
  }
  function labelToken(self, context, [left, top, width, height], token, number) {
    context.strokeStyle = self.style.line;
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    context.fillStyle = self.style.ink;
    context.font = `11px ${self.style.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(truncateText(context, `${inlineText(token.piece)} ${number}`, width - 6), left + width / 2, top + height / 2);
  }
  function outlineQueries(self, context, laid, view) {
    const hot = activeQueries(self);
    const outline = (place, colour2, line) => {
      const [left, top, width, height] = tokenBox(self, laid, place);
      context.strokeStyle = colour2;
      context.lineWidth = line;
      context.strokeRect(left + line / 2, top + line / 2, width - line, height - line);
    };
    for (const place of hot) {
      outline(place, "#ffffff", 4);
      outline(place, self.style.beam, 2.5);
    }
    if (self.hovered?.key !== null && self.hovered?.key !== void 0) outline(self.hovered.key, "#ffffff", 1.5);
  }
  function imageTokenAt(self, event, click = false) {
    const { answer, framed: laid, parts } = self;
    if (!laid) return null;
    const frame = parts.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
    const inside = (place2) => {
      const [left, top, width, height] = tokenBox(self, laid, place2);
      return x >= left && x < left + width && y >= top && y < top + height;
    };
    const place = answer.tokens.findIndex((_, each) => inside(each));
    if (place < 0) return null;
    return self.choice.locked.length && !click ? { query: null, key: place } : { query: place, key: null };
  }
  function imageArrowStep(self, key) {
    const { columns } = self.answer.patches;
    return { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[key] || 0;
  }

  // ../../model/rendering/static/ui/clipboard.js
  async function copyText(button, text) {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyBySelection(button, text);
    }
    button.textContent = "Copied";
    setTimeout(() => button.textContent = before, 1200);
  }
  function copyBySelection(button, text) {
    const box = createElement("textarea", "unseen");
    box.value = text;
    button.after(box);
    box.select();
    document.execCommand("copy");
    box.remove();
  }
  function saveFile(name, kind, text) {
    saveBlob(name, new Blob([text], { type: `${kind};charset=utf-8` }));
  }
  function saveBlob(name, blob) {
    const link = createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1e3);
  }

  // ../../model/rendering/static/plots/number_table.js
  var PAGE_SIZE = 32;
  function drawTable(self, view) {
    const { sheet } = self.parts;
    if (self.tabled !== view || self.turned) {
      if (self.tabled?.rows.names.length !== view.rows.names.length) self.corner = null;
      self.tabled = view;
      self.turned = false;
      self.corner ??= { rows: pageStart(activeRows(self, view)[0] ?? 0), columns: 0 };
      updateChildren(sheet, createToolbar(self, view), createTable(self, view));
    }
    markTable(self, view);
  }
  function pageStart(line) {
    return Math.floor(line / PAGE_SIZE) * PAGE_SIZE;
  }
  function createToolbar(self, view) {
    const tools = createElement("div", "sheet-tools");
    const copy = createElement("button", "small", "Copy");
    const save = createElement("button", "small", "CSV");
    copy.dataset.testid = "copy-table";
    save.dataset.testid = "save-table";
    copy.title = "Copy all numbers, to paste into a spreadsheet";
    save.title = "Save all numbers as a file";
    copy.onclick = () => copyText(copy, matrixAsText(view).map((line) => line.map(tsvCell).join("	")).join("\n"));
    save.onclick = () => saveFile(`${fileName(self)}.csv`, "text/csv", matrixAsText(view).map((line) => line.map(csvCell).join(",")).join("\r\n"));
    for (const button of [copy, save]) Object.assign(button, { type: "button", disabled: !view.exact });
    tools.append(copy, save, createPager(self, view, "rows", "queries"), createPager(self, view, "columns", "keys"));
    return tools;
  }
  function createPager(self, view, side, title) {
    const count = view[side].names.length;
    const box = createElement("span", "pager");
    if (count <= PAGE_SIZE) return box;
    const from = self.corner[side];
    const turn = (sign, step) => {
      const button = createElement("button", "small", sign);
      Object.assign(button, { type: "button", disabled: step < 0 ? from === 0 : from + PAGE_SIZE >= count });
      button.setAttribute("aria-label", `${step < 0 ? "Earlier" : "Later"} ${title}`);
      button.onclick = () => {
        self.corner[side] = Math.max(from + step, 0);
        self.turned = true;
        drawTable(self, view);
      };
      return button;
    };
    box.append(turn("\u2039", -PAGE_SIZE), `${title} ${from}\u2013${Math.min(from + PAGE_SIZE, count) - 1} of ${count}`, turn("\u203A", PAGE_SIZE));
    return box;
  }
  function createTable(self, view) {
    const lines = (side) => view[side].names.map((_, line) => line).slice(self.corner[side], self.corner[side] + PAGE_SIZE);
    const table = createElement("table");
    const top = createElement("tr");
    const power = sharedExponent(view);
    top.append(createElement("td", "corner", power ? `times 10${superscript(power)}` : "query \u2193 key \u2192"), ...lines("columns").map((column) => headingCell("col", view.columns.names[column], column)));
    const head = createElement("thead");
    head.append(top);
    const body = createElement("tbody");
    body.append(...lines("rows").map((row) => createTableRow(view, row, lines("columns"))));
    table.append(head, body);
    return table;
  }
  function headingCell(scope, name, line) {
    const cell = createElement("th");
    cell.scope = scope;
    cell.dataset[scope] = line;
    cell.append(createElement("bdi", "", inlineText(name)));
    cell.title = `${line} ${visibleText(name)}`;
    return cell;
  }
  function createTableRow(view, row, columns) {
    const line = createElement("tr");
    line.dataset.row = row;
    line.append(headingCell("row", view.rows.names[row], row), ...columns.map((column) => createTableCell(view, row, column)));
    return line;
  }
  function createTableCell(view, row, column) {
    const state = stateAt(view, row, column);
    const number = valueAt(view, row, column);
    const cell = createElement("td", state === SHOWN ? "" : "none", state === SHOWN ? formatCellNumber(view, number) : state === LEFT_OUT ? "\xB7" : "");
    cell.dataset.col = column;
    if (state !== SHOWN) return cell;
    cell.style.setProperty("--shade", `${Math.round(Math.sqrt(magnitude(view, number)) * 80)}%`);
    if (view.signed && number < 0) cell.style.setProperty("--tint", NEGATIVE_COLOUR);
    return cell;
  }
  function sharedExponent(view) {
    const most = Math.max(Math.abs(view.low), Math.abs(view.high));
    return view.scale !== "share" && most > 0 && most < 0.0995 ? Math.floor(Math.log10(most)) : 0;
  }
  function superscript(power) {
    return [...String(power)].map((sign) => "\u2070\xB9\xB2\xB3\u2074\u2075\u2076\u2077\u2078\u2079"[sign] ?? "\u207B").join("");
  }
  function formatCellNumber(view, number) {
    if (view.scale === "share") return number.toFixed(3).replace(/^0/, "");
    const size = (Math.abs(number) / 10 ** sharedExponent(view)).toFixed(2);
    return number < 0 && size !== "0.00" ? `\u2212${size}` : size;
  }
  function markTable(self, view) {
    const rows = activeRows(self, view);
    const column = hoveredColumn(self, view);
    const table = self.parts.sheet.querySelector("table");
    for (const cell of table.querySelectorAll(".hot")) cell.classList.remove("hot");
    for (const row of rows) table.querySelector(`tr[data-row="${row}"]`)?.classList.add("hot");
    if (column === void 0) return;
    table.querySelector(`th[data-col="${column}"]`)?.classList.add("hot");
    for (const row of rows) table.querySelector(`tr[data-row="${row}"] td[data-col="${column}"]`)?.classList.add("hot");
  }
  function tableTokenAt(self, event) {
    const cell = event.target.closest("td, th");
    if (!cell || !self.parts.sheet.contains(cell)) return null;
    const row = cell.closest("tr").dataset.row;
    const column = cell.dataset.col;
    if (row === void 0 && column === void 0) return null;
    const place = tokensAt(self.shown, Number(row), Number(column));
    return { query: row === void 0 ? null : place.query, key: column === void 0 ? null : place.key };
  }
  function matrixAsText(view) {
    const number = (row, column) => stateAt(view, row, column) === SHOWN ? String(Number(valueAt(view, row, column).toPrecision(8))) : "";
    const { names } = view.columns;
    return [["", ...names], ...view.rows.names.map((name, row) => [name, ...names.map((_, column) => number(row, column))])];
  }
  function csvCell(text) {
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  }
  function tsvCell(text) {
    return text.replace(/\n/g, "\u23CE").replace(/\t/g, "\u2192");
  }
  function fileName(self) {
    const heads = selectedHeads(self).map(([layer, head]) => `layer${layer}-head${head}`);
    return [...heads.slice(0, 4), self.choice.view].join("-");
  }

  // ../../model/rendering/static/plots/query_key_plot.js
  var KEY_COLOUR = "#3b8fd0";
  var HIT_RADIUS = 16;
  function drawQueryKeyPlot(self, view, width) {
    const [[layer, head]] = selectedHeads(self);
    const found = self.wanted("points", { attention: currentGrid(self).name, layer, head });
    if (found?.meta.error) return self.trouble = found.meta.error;
    const height = Math.min(Math.max(width * 0.9, 260), plotHeight(self));
    const context = hidpiContext(self.paper, width, height);
    if (!found) return;
    self.points = layoutPoints(found, view, width, height);
    drawAxes(context, self, found.meta.shares, self.points, width, height);
    drawConnections(context, self, view);
    for (const point of self.points.all) drawPoint(context, self, point);
    drawPointLabels(context, self, view, width);
  }
  function layoutPoints(found, view, width, height) {
    const { queries } = found.meta;
    const at = (index) => [found.numbers[2 * index], found.numbers[2 * index + 1]];
    const all = [...view.rowOf].map(([place, line]) => ({ side: "query", place, name: view.rows.names[line], spot: at(place) }));
    all.push(...[...view.columnOf].map(([place, line]) => ({ side: "key", place, name: view.columns.names[line], spot: at(queries + place) })));
    const ends = [0, 1].map((axis) => {
      const values = all.map(({ spot }) => spot[axis]);
      return [Math.min(...values), Math.max(...values)];
    });
    const scale = Math.min((width - 90) / (ends[0][1] - ends[0][0] || 1), (height - 70) / (ends[1][1] - ends[1][0] || 1));
    const middle = ends.map(([low, high]) => (low + high) / 2);
    const x = (value) => width / 2 - 14 + (value - middle[0]) * scale;
    const y = (value) => height / 2 - 8 - (value - middle[1]) * scale;
    for (const point of all) Object.assign(point, { x: x(point.spot[0]), y: y(point.spot[1]) });
    return { all, x0: x(0), y0: y(0) };
  }
  function drawAxes(context, self, shares, { x0, y0 }, width, height) {
    context.strokeStyle = self.style.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, y0);
    context.lineTo(width, y0);
    context.moveTo(x0, 0);
    context.lineTo(x0, height);
    context.stroke();
    context.font = `${11 * self.style.type}px ${self.style.font}`;
    context.fillStyle = self.style.quiet;
    context.textBaseline = "bottom";
    context.textAlign = "left";
    context.fillText(`across ${formatPercent(shares[0])}, up ${formatPercent(shares[1])} of the variance`, 4, height - 2);
    context.textAlign = "right";
    context.fillText("\u25CF query  \u25A0 key", width - 4, height - 2);
  }
  function isActive(self, { side, place }) {
    return side === "query" ? activeQueries(self).includes(place) : self.hovered?.key === place;
  }
  function drawConnections(context, self, view) {
    const { all } = self.points;
    const keys = all.filter(({ side }) => side === "key");
    context.strokeStyle = self.style.beam;
    for (const query of all.filter((point) => point.side === "query" && isActive(self, point))) {
      for (const key of keys) {
        const [row, column] = [view.rowOf.get(query.place), view.columnOf.get(key.place)];
        const strength = stateAt(view, row, column) === SHOWN ? magnitude(view, valueAt(view, row, column)) : 0;
        if (strength < 0.01) continue;
        context.globalAlpha = Math.min(strength * 1.1, 1);
        context.lineWidth = (0.5 + 3 * strength) * self.style.type;
        context.beginPath();
        context.moveTo(query.x, query.y);
        context.lineTo(key.x, key.y);
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }
  function drawPoint(context, self, point) {
    const hot = isActive(self, point);
    const size = hot ? 6 : 4;
    context.fillStyle = point.side === "query" ? self.style.beam : KEY_COLOUR;
    context.beginPath();
    if (point.side === "query") context.arc(point.x, point.y, size, 0, 2 * Math.PI);
    else context.rect(point.x - size + 0.5, point.y - size + 0.5, 2 * size - 1, 2 * size - 1);
    context.fill();
    context.strokeStyle = hot ? self.style.ink : self.style.surface;
    context.lineWidth = hot ? 2 : 1;
    context.stroke();
  }
  function drawPointLabels(context, self, view, width) {
    const taken = [];
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const point of [...self.points.all].sort((one, other) => isActive(self, other) - isActive(self, one))) {
      const hot = isActive(self, point);
      context.font = `${hot ? "600 " : ""}${11 * self.style.type}px ${self.style.font}`;
      const name = truncateText(context, inlineText(point.name), 90);
      const wide = context.measureText(name).width;
      const x = point.x + 8 + wide > width ? point.x - 8 - wide : point.x + 8;
      const box = [x - 2, point.y - 7, x + wide + 2, point.y + 7];
      if (!hot && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
      taken.push(box);
      context.fillStyle = hot ? self.style.ink : self.style.quiet;
      context.fillText(name, x, point.y);
    }
  }
  function pointTokenAt(self, event) {
    if (!self.points) return null;
    const frame = self.parts.canvas.getBoundingClientRect();
    const far = ({ x, y }) => Math.hypot(x - (event.clientX - frame.left), y - (event.clientY - frame.top));
    const nearest = self.points.all.reduce((best, point) => far(point) < far(best) ? point : best);
    if (far(nearest) > HIT_RADIUS) return null;
    return nearest.side === "query" ? { query: nearest.place, key: null } : { query: null, key: nearest.place };
  }

  // ../../model/rendering/static/plots/shaded_text.js
  function drawShadedText(self, view) {
    const { prose } = self.parts;
    if (self.prosed !== view) {
      self.prosed = view;
      const { queries, keys } = currentGrid(self);
      const same = sameAxes(self, view);
      const looked = createParagraph(self, view.columns, keys, same ? "both" : "key");
      prose.replaceChildren(...same ? [looked] : [sectionTitle("Looking"), createParagraph(self, view.rows, queries, "query"), sectionTitle("Looked at"), looked]);
    }
    shadeWords(self, view);
  }
  function sameAxes(self, view) {
    const grid = currentGrid(self);
    return grid.queries === grid.keys && JSON.stringify(view.rows.tokens) === JSON.stringify(view.columns.tokens);
  }
  function sectionTitle(title) {
    return createElement("h4", "", title);
  }
  function createParagraph(self, axis, which, side) {
    const text = createElement("p", "running");
    text.dir = "auto";
    axis.names.forEach((name, line) => {
      const word = name.replace(/^ +(?=[^ ])/, "");
      const token = createElement("span", "word", visibleText(word));
      token.dataset.side = side;
      token.dataset.line = line;
      text.append(...line && hasSpaceBefore(self, axis, line, which) ? [" "] : [], token, ...name.includes("\n") ? [createElement("br")] : []);
    });
    return text;
  }
  function hasSpaceBefore(self, { names, tokens }, line, which) {
    const { question, tokens: ofText, sourceTokens } = self.answer;
    const [text, all] = which === "source" ? [question.source, sourceTokens] : [question.text, ofText];
    const [before, here] = [all[tokens[line - 1].at(-1)], all[tokens[line][0]]];
    return /^\s/.test(names[line]) || !before || !here || before.special || here.special || /\s/.test(text[before.end] ?? "");
  }
  function shadeWords(self, view) {
    const rows = activeRows(self, view);
    const sums = columnSums(view, rows);
    const column = hoveredColumn(self, view);
    const size = (sum) => Number.isFinite(sum) ? Math.abs(view.scale === "linear" && !view.signed ? sum - view.low : sum) : 0;
    const most = Math.max(...sums.map(size), 1e-9);
    self.darkest = Math.max(...sums.map((sum) => Number.isFinite(sum) ? view.signed ? Math.abs(sum) : sum : -Infinity));
    for (const token of self.parts.prose.querySelectorAll(".word")) {
      const line = Number(token.dataset.line);
      const asks = token.dataset.side !== "key" && rows.includes(line);
      token.classList.toggle("query", asks);
      token.classList.toggle("locked", asks && view.rows.tokens[line].some((place) => self.choice.locked.includes(place)));
      if (token.dataset.side === "query") continue;
      token.style.setProperty("--shade", `${Math.round(Math.sqrt(size(sums[line]) / most) * 100)}%`);
      token.style.setProperty("--tint", view.signed && sums[line] < 0 ? NEGATIVE_COLOUR : "var(--beam)");
      token.classList.toggle("faint", Number.isNaN(sums[line]));
      token.classList.toggle("key", line === column);
      token.title = formatValue(view, sums[line]);
    }
  }
  function wordTokenAt(self, event, click = false) {
    const token = event.target.closest(".word");
    if (!token) return null;
    const { side, line } = token.dataset;
    const here = tokensAt(self.shown, Number(line), Number(line));
    if (side === "key" || side === "both" && self.choice.locked.length && !click) return { query: null, key: here.key };
    return { query: here.query, key: null };
  }

  // ../../model/rendering/static/ui/heatmap.js
  function layoutHeatmap(context, { queries, keys, style, tall = 430 }, width) {
    const rows = queries.length;
    const columns = keys.length;
    const size = (rows > 28 || columns > 28 ? 10 : tall > 430 ? 14 : 12) * style.type;
    context.font = `${size}px ${style.font}`;
    const longest = (tokens) => Math.max(...tokens.map((token) => context.measureText(inlineText(token.piece)).width), 8);
    const left = Math.min(longest(queries) + 12, width * (style.type > 1 ? 0.32 : 0.26), (tall > 430 ? 150 : 110) * style.type);
    const top = Math.min(longest(keys) + 10, 84 * style.type);
    const cell = Math.min((width - left - 2) / columns, Math.max(tall - top, style.type > 1 ? 170 : 240) / Math.max(rows, columns / 1.6), tall > 430 ? 56 : 40);
    return { rows, columns, size, left, top, cell };
  }
  function drawHeatmap(canvas, width, picture) {
    const map = layoutHeatmap(canvas.getContext("2d"), picture, width);
    const context = hidpiContext(canvas, width, Math.ceil(map.top + map.cell * map.rows + 4));
    context.imageSmoothingEnabled = false;
    if (picture.ground) {
      context.fillStyle = picture.style.raised;
      context.fillRect(map.left, map.top, map.cell * map.columns, map.cell * map.rows);
    }
    context.globalAlpha = picture.alpha;
    context.drawImage(picture.image, map.left, map.top, map.cell * map.columns, map.cell * map.rows);
    context.globalAlpha = 1;
    drawCellGaps(context, map, picture);
    drawAxisLabels(context, map, picture);
    drawCellMarks(context, map, picture);
    return map;
  }
  function drawCellGaps(context, map, { style }) {
    if (map.cell < 9) return;
    context.fillStyle = style.surface;
    for (let row = 1; row < map.rows; row++) context.fillRect(map.left, map.top + row * map.cell - 0.5, map.cell * map.columns, 1);
    for (let key = 1; key < map.columns; key++) context.fillRect(map.left + key * map.cell - 0.5, map.top, 1, map.cell * map.rows);
  }
  function drawAxisLabels(context, map, { queries, keys, hot, rows = [hot.query], style }) {
    const every = Math.max(Math.ceil((map.size + 1) / map.cell), 1);
    context.font = `${map.size}px ${style.font}`;
    context.textBaseline = "middle";
    queries.forEach((token, row) => {
      if (row % every && !rows.includes(row)) return;
      context.textAlign = "right";
      context.fillStyle = rows.includes(row) ? style.ink : style.quiet;
      context.fillText(truncateText(context, inlineText(token.piece), map.left - 10), map.left - 6, map.top + (row + 0.5) * map.cell);
    });
    keys.forEach((token, key) => {
      if (key % every && key !== hot.key) return;
      context.save();
      context.translate(map.left + (key + 0.5) * map.cell, map.top - 6);
      context.rotate(-Math.PI / 2);
      context.textAlign = "left";
      context.fillStyle = key === hot.key ? style.ink : style.quiet;
      context.fillText(truncateText(context, inlineText(token.piece), map.top - 8), 0, 0);
      context.restore();
    });
  }
  function drawCellMarks(context, map, { hot, rows = [hot.query], style }) {
    context.lineWidth = 1.5 * style.type;
    context.strokeStyle = style.beam;
    for (const row of rows) {
      if (row !== null) context.strokeRect(map.left, map.top + row * map.cell, map.cell * map.columns, map.cell);
    }
    if (hot.key === null || hot.key === void 0) return;
    context.strokeStyle = style.ink;
    for (const row of rows) context.strokeRect(map.left + hot.key * map.cell, map.top + row * map.cell, map.cell, map.cell);
  }
  function cellAtPointer(canvas, map, event) {
    if (!map) return null;
    const frame = canvas.getBoundingClientRect();
    const key = Math.floor((event.clientX - frame.left - map.left) / map.cell);
    const query = Math.floor((event.clientY - frame.top - map.top) / map.cell);
    const inside = key >= 0 && key < map.columns && query >= 0 && query < map.rows;
    return inside ? { query, key } : null;
  }

  // ../../model/rendering/static/heads/head_panel.js
  var PLOTS = Object.freeze({
    photo: { title: "Picture", draw: drawImageOverlay, under: imageTokenAt, jump: imageArrowStep, only: "pictures", scale: scaleText },
    map: { title: "Map", draw: drawAttentionMap, under: mapTokenAt },
    lines: { title: "Lines", draw: drawAttentionLines, under: lineTokenAt },
    text: { title: "Text", only: "texts", draw: drawShadedText, mark: shadeWords, under: wordTokenAt },
    table: { title: "Table", draw: drawTable, mark: markTable, under: tableTokenAt },
    points: { title: "q \xB7 k", about: "Queries and keys of the head in one plane", draw: drawQueryKeyPlot, under: pointTokenAt }
  });
  function drawAttentionMap(self, view, width) {
    const image = self.small ??= document.createElement("canvas");
    paintCodes(image, matrixCodes(view), view.height, view.width, view.signed ? SIGNED_COLOURS : WEIGHT_COLOURS);
    const rows = activeRows(self, view);
    const column = hoveredColumn(self, view);
    self.map = drawHeatmap(self.paper, width, {
      queries: view.rows.names.map((piece) => ({ piece })),
      keys: view.columns.names.map((piece) => ({ piece })),
      image,
      alpha: 1,
      ground: view.signed,
      tall: plotHeight(self),
      hot: { query: rows.at(-1) ?? null, key: column ?? null },
      rows,
      style: self.style
    });
  }
  function mapTokenAt(self, event) {
    const cell = cellAtPointer(self.parts.canvas, self.map, event);
    return cell && tokensAt(self.shown, cell.query, cell.key);
  }
})();
