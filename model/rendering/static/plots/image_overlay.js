// A picture with its patches, each as bright as the queries at hand look at it: the rest lies in the dark.

import { columnSums, formatValue } from "../state/head_matrix.js";
import { activeQueries, activeRows } from "../state/token_selection.js";
import { NEGATIVE_COLOUR } from "../ui/colours.js";
import { formatPercent, hidpiContext, inlineText, truncateText } from "../ui/dom.js";
import { inflate } from "../ui/wire.js";

const DARKNESS = 0.8; // over a patch that nobody looks at
const STRIP_HEIGHT = 26; // pixels for the tokens in front of the patches
const MAX_HEIGHT = 560;

export function scaleText(view) {
  return `${view.signed ? "orange above zero, purple below" : "bright"}, on a square-root scale up to the ${view.signed ? "largest" : "brightest patch"}`;
}

/** The picture on the screen, once the browser has it; the room is drawn again then. */
function loadedImage(self) {
  const { photo: brought } = self.answer.patches;
  if (brought) return embeddedImage(self, brought);
  const name = self.answer.question.image || self.pictures[0];
  if (self.photo?.name === name) return self.photo.ready ? self.photo.image : null;
  const image = new Image();
  const photo = (self.photo = { name, image, ready: false });
  image.onload = () => {
    photo.ready = true;
    if (self.photo === photo) self.redraw();
  };
  image.src = self.imageUrl(name);
  return null;
}

/** The picture that came along with an answer, as a canvas; null until its bytes are unpacked. */
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

/** Where everything lies on the canvas: the strip of tokens, and below it the picture with its patches. */
function layoutImage(self, image, width) {
  const { rows, columns, region } = self.answer.patches;
  const [wide, high] = imageSize(image);
  const [across, down] = [(region[2] - region[0]) * wide, (region[3] - region[1]) * high];
  const scale = Math.min(width / across, MAX_HEIGHT / down);
  return { rows, columns, left: 0, top: STRIP_HEIGHT + 6, width: across * scale, height: down * scale };
}

export function drawImageOverlay(self, view, width) {
  const image = loadedImage(self);
  if (!image) return;
  const laid = (self.framed = layoutImage(self, image, width));
  const context = hidpiContext(self.paper, width, Math.ceil(laid.top + laid.height + 2));
  const [left, top, right, bottom] = self.answer.patches.region;
  const [across, down] = imageSize(image);
  context.drawImage(
    image, left * across, top * down, (right - left) * across, (bottom - top) * down, laid.left, laid.top, laid.width, laid.height,
  );
  const sums = columnSums(view, activeRows(self, view));
  const most = Math.max(...sums.map((sum, column) => (isPatch(self, view, column) && Number.isFinite(sum) ? Math.abs(sum) : 0)), 1e-12);
  sums.forEach((sum, column) => {
    for (const place of view.columns.tokens[column]) shadeToken(self, context, laid, view, place, sum, most);
  });
  outlineQueries(self, context, laid, view);
  context.fillStyle = self.style.quiet;
  context.font = `12px ${self.style.font}`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  const told = view.signed ? `largest ± ${formatAmount(view, most).replace("+", "")}` : `brightest patch ${formatAmount(view, most)}`;
  context.fillText(told, laid.width, STRIP_HEIGHT / 2);
}

/** A number of the view in a few signs. */
function formatAmount(view, number) {
  return view.scale === "share" ? formatPercent(number) : formatValue(view, number, 3);
}

function isPatch(self, view, column) {
  return view.columns.tokens[column][0] >= self.answer.patches.first;
}

/** The corner and the size of a token on the canvas. */
function tokenBox(self, laid, place) {
  const { first, rows, columns } = self.answer.patches;
  if (place < first) return [place * 100, 2, 96, STRIP_HEIGHT - 4];
  const [row, column] = [Math.floor((place - first) / columns), (place - first) % columns];
  const [width, height] = [laid.width / columns, laid.height / rows];
  return [laid.left + column * width, laid.top + row * height, width, height];
}

/** A patch is left bright as far as it is looked at; a difference has its own colour on the dark. */
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

/** Frames the tokens that ask, and the one under the pointer where it is asked about. */
function outlineQueries(self, context, laid, view) {
  const hot = activeQueries(self);
  const outline = (place, colour, line) => {
    const [left, top, width, height] = tokenBox(self, laid, place);
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(left + line / 2, top + line / 2, width - line, height - line);
  };
  for (const place of hot) {
    outline(place, "#ffffff", 4);
    outline(place, self.style.beam, 2.5);
  }
  if (self.hovered?.key !== null && self.hovered?.key !== undefined) outline(self.hovered.key, "#ffffff", 1.5);
}

/** The token under the pointer: as a query, or, where one is locked, as what that query looks at. */
export function imageTokenAt(self, event, click = false) {
  const { answer, framed: laid, parts } = self;
  if (!laid) return null;
  const frame = parts.canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
  const inside = (place) => {
    const [left, top, width, height] = tokenBox(self, laid, place);
    return x >= left && x < left + width && y >= top && y < top + height;
  };
  const place = answer.tokens.findIndex((_, each) => inside(each));
  if (place < 0) return null;
  return self.choice.locked.length && !click ? { query: null, key: place } : { query: place, key: null };
}

/** How many tokens further an arrow key leads: a row down is as many as there are columns. */
export function imageArrowStep(self, key) {
  const { columns } = self.answer.patches;
  return { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[key] || 0;
}

