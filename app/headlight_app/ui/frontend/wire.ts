// The format of answers: JSON header, then binary payload.

export interface Packed<Meta = Record<string, unknown>> {
  meta: Meta;
  start: number; // where the numbers begin
  buffer: ArrayBuffer;
}

/** An answer is the length of the JSON, the JSON, and raw numbers that begin at the next multiple of four. */
export function unpack<Meta = Record<string, unknown>>(buffer: ArrayBuffer): Packed<Meta> {
  const length = new DataView(buffer).getUint32(0, true);
  const meta = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { meta, start: Math.ceil((4 + length) / 4) * 4, buffer };
}

/** An answer in this format. */
export function pack(meta: object, numbers: Uint8Array): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(meta));
  const start = Math.ceil((4 + text.length) / 4) * 4;
  const packed = new Uint8Array(start + numbers.length);
  new DataView(packed.buffer).setUint32(0, text.length, true);
  packed.set(text, 4);
  packed.set(numbers, start);
  return packed.buffer;
}

/** As many complete float32 as there are; fewer than four bytes may be left at the end. */
export function readFloats(buffer: ArrayBuffer, start: number) {
  return new Float32Array(buffer, start, Math.floor((buffer.byteLength - start) / 4));
}

export function fromBase64(base64: string) {
  const signs = atob(base64);
  const bytes = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at++) bytes[at] = signs.charCodeAt(at); // of a model there are millions
  return bytes;
}

/** Deflated bytes, or these in base64. */
export type Deflated = ArrayBuffer | string;

export async function inflate(packed: Deflated) {
  const bytes = typeof packed === "string" ? fromBase64(packed) : packed;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
