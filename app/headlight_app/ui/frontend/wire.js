// The format of answers: JSON header, then binary payload.

/**
 * @template [Meta=Record<string, unknown>]
 * @typedef {object} Packed
 * @property {Meta} meta
 * @property {number} start where the numbers begin
 * @property {ArrayBuffer} buffer
 */

/**
 * An answer is the length of the JSON, the JSON, and raw numbers that begin at the next multiple of four.
 * @template [Meta=Record<string, unknown>] @param {ArrayBuffer} buffer @returns {Packed<Meta>}
 */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { meta, start: Math.ceil((4 + length) / 4) * 4, buffer };
}

/**
 * As many complete float32 as there are; fewer than four bytes may be left at the end.
 * @param {ArrayBuffer} buffer @param {number} start
 */
export function readFloats(buffer, start) {
  return new Float32Array(buffer, start, Math.floor((buffer.byteLength - start) / 4));
}

/** @param {string} base64 */
export function fromBase64(base64) {
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
}

/** @param {string} base64 */
export async function inflate(base64) {
  const stream = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
