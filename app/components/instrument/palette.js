// The sequential scale (cividis: readable with every kind of colour vision) and the byte code of a weight.

const CIVIDIS = [
  [0, 34, 78], [0, 42, 102], [18, 50, 112], [40, 58, 109], [56, 66, 108], [69, 74, 108], [81, 82, 110], [92, 91, 114],
  [102, 99, 118], [112, 108, 120], [123, 117, 121], [134, 126, 120], [146, 135, 119], [158, 145, 116], [170, 155, 112],
  [182, 165, 106], [194, 175, 99], [207, 186, 90], [220, 197, 79], [233, 208, 68], [246, 219, 70], [254, 232, 56],
];

/** The colour of a share from 0 to 1, as [red, green, blue]. */
function colour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const rest = place - low;
  return CIVIDIS[low].map((value, channel) => Math.round(value + rest * (CIVIDIS[low + 1][channel] - value)));
}

const INK = Array.from({ length: 256 }, (_, code) => (code === 0 ? [0, 0, 0, 0] : [...colour((code - 1) / 254), 255]));

/** Weights travel as one byte: 0 is a forbidden cell, 1 to 255 the square root of the weight. */
function weightOf(code) {
  return code === 0 ? NaN : ((code - 1) / 254) ** 2;
}

/** Paints one block of byte codes into a canvas, one pixel a cell; the style sheet enlarges it. */
function paintCodes(canvas, codes, rows, columns) {
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let cell = 0; cell < rows * columns; cell++) image.data.set(INK[codes[cell]], cell * 4);
  context.putImageData(image, 0, 0);
}

function paintScale(canvas) {
  paintCodes(canvas, Uint8Array.from({ length: 256 }, (_, code) => Math.max(code, 1)), 1, 256);
}
