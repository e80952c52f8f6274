// The random numbers of the server for the same seed: NumPy's PCG64 (O'Neill 2014), seeded by its SeedSequence.

const MULTIPLIER = (2549297995355413924n << 64n) + 4865540595714422341n;
const [BITS_64, BITS_128] = [(1n << 64n) - 1n, (1n << 128n) - 1n];
const POOL = 4; // words of 32 bits

/** The uniform random number in [0, 1) of a step, counted from 0. @param seed a whole number below 2^53 */
export function randomNumber(seed: number, step: number): number {
  const [start, increment] = seedWords(seed);
  const next = (state: bigint) => (state * MULTIPLIER + increment) & BITS_128;
  let state = next(increment + start);
  for (let drawn = 0; drawn <= step; drawn++) state = next(state);
  const [folded, turn] = [(state >> 64n) ^ (state & BITS_64), state >> 122n];
  const bits = ((folded >> turn) | (folded << (64n - turn))) & BITS_64;
  return Number(bits >> 11n) / 2 ** 53;
}

/** The start of the generator and its odd increment, of 128 bits each. */
function seedWords(seed: number): [start: bigint, increment: bigint] {
  const pool = mixedPool([seed >>> 0, Math.floor(seed / 2 ** 32)]);
  const hash = hasher(0x8b51f9dd, 0x58f38ded);
  const words = Array.from({ length: 8 }, (_, place) => BigInt(hash(pool[place % POOL])));
  const [startHigh, startLow, high, low] = [0, 2, 4, 6].map((place) => words[place] | (words[place + 1] << 32n));
  const sequence = (high << 64n) | low;
  return [(startHigh << 64n) | startLow, ((sequence << 1n) | 1n) & BITS_128];
}

/** Words of entropy, each of which changes all words of the pool. */
function mixedPool(entropy: readonly number[]): number[] {
  const hash = hasher(0x43b0d7e5, 0x931e8875);
  const pool = Array.from({ length: POOL }, (_, place) => hash(entropy[place] ?? 0));
  for (let source = 0; source < POOL; source++)
    for (let place = 0; place < POOL; place++)
      if (place !== source) pool[place] = mixed(pool[place], hash(pool[source]));
  return pool;
}

/** A hash of words of 32 bits, whose constant changes with each of them. */
function hasher(start: number, factor: number): (word: number) => number {
  let constant = start;
  return (word) => {
    const before = word ^ constant;
    constant = Math.imul(constant, factor);
    return shifted(Math.imul(before, constant));
  };
}

function mixed(one: number, other: number): number {
  return shifted(Math.imul(0xca01f9dd, one) - Math.imul(0x4973f715, other));
}

function shifted(word: number): number {
  return (word ^ (word >>> 16)) >>> 0;
}
