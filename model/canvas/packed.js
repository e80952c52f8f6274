// Answers as they travel: a few words about numbers, and the numbers themselves.

/** An answer is a length, that much JSON, and raw numbers that begin at the next multiple of four. */
function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { meta, start: Math.ceil((4 + length) / 4) * 4, buffer };
}

/** As many whole numbers of four bytes as there are; single bytes may follow them. */
function floats(buffer, start) {
  return new Float32Array(buffer, start, Math.floor((buffer.byteLength - start) / 4));
}
