// Texts within a PNG file: one iTXt chunk for each keyword, after the header (PNG specification, 11.3.3.4).

const HEADER_END = 8 + 25; // bytes of the signature and of the first chunk, IHDR

function checksum(bytes: Uint8Array) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}

function textChunk(keyword: string, text: string) {
  const data = new TextEncoder().encode(`iTXt${keyword}\0\0\0\0\0${text.replaceAll("\0", "\ufffd")}`);
  const chunk = new Uint8Array(data.length + 8);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, data.length - 4);
  chunk.set(data, 4);
  view.setUint32(data.length + 4, checksum(data));
  return chunk;
}

/** @param texts by their keywords */
export async function addPngTexts(png: Blob, texts: Record<string, string>) {
  const chunks = Object.entries(texts).map(([keyword, text]) => textChunk(keyword, text));
  return new Blob([png.slice(0, HEADER_END), ...chunks, png.slice(HEADER_END)], { type: "image/png" });
}
