/**
 * Assembles the module of src/daemon/sha256.ts: the compression function of sha256 (FIPS 180-4, section 6.2.2) in WebAssembly. Memory: the 64 round
 * constants at 0, the state's eight words at 256, the message schedule at 320, blocks from 576 on.
 */
type Code = readonly number[];

const unsigned = (value: number): Code => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]);
const signed = (value: number): Code => {
  const [low, rest] = [value & 0x7f, value >> 7];
  const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
  return isLast ? [low] : [low | 0x80, ...signed(rest)];
};

const [CONSTANTS, STATE, SCHEDULE] = [0, 256, 320];
const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const tee = (local: number): Code => [0x22, local];
const i32 = (value: number): Code => [0x41, ...signed(value | 0)];
const load = (offset: number): Code => [0x28, 2, ...unsigned(offset)];
const store = (offset: number): Code => [0x36, 2, ...unsigned(offset)];
const [LESS, ADD, AND, OR, XOR, SHIFT, LEFT, RIGHT] = [0x49, 0x6a, 0x71, 0x72, 0x73, 0x76, 0x77, 0x78];
const loop = (...body: Code): Code => [0x03, 0x40, ...body, 0x0b];
const AGAIN: Code = [0x0d, 0];

// The parameters, where the blocks begin and end; the working variables; a counter, and two for the moment.
const [FROM, TO, A, B, C, D, E, F, G, H, I, T, X] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const WORDS = [A, B, C, D, E, F, G, H];

const next = (limit: number): Code => [...get(I), ...i32(4), ADD, ...tee(I), ...i32(limit), LESS, ...AGAIN];
const bigEndian = (word: Code): Code => [
  ...[...word, ...tee(T), ...i32(8), LEFT, ...i32(0x00ff00ff), AND],
  ...[...get(T), ...i32(8), RIGHT, ...i32(0xff00ff00), AND, OR],
];
/** Two rotations and a third, or a shift, of a word. */
const sigma = (word: Code, first: number, second: number, third: number, last: number): Code => [
  ...[...word, ...tee(X), ...i32(first), RIGHT, ...get(X), ...i32(second), RIGHT, XOR],
  ...[...get(X), ...i32(third), last, XOR],
];
const scheduled = (back: number): Code => [...get(I), ...load(SCHEDULE - 4 * back)];

const SCHEDULING: Code = [
  ...[...i32(0), ...set(I)],
  ...loop(...get(I), ...bigEndian([...get(FROM), ...get(I), ADD, ...load(0)]), ...store(SCHEDULE), ...next(64)),
  ...loop(
    ...get(I),
    ...[...sigma(scheduled(2), 17, 19, 10, SHIFT), ...scheduled(7), ADD],
    ...[...sigma(scheduled(15), 7, 18, 3, SHIFT), ADD, ...scheduled(16), ADD],
    ...store(SCHEDULE),
    ...next(256),
  ),
];
const ROUNDS: Code = [
  ...WORDS.flatMap((word, at) => [...i32(0), ...load(STATE + 4 * at), ...set(word)]),
  ...[...i32(0), ...set(I)],
  ...loop(
    ...[...get(H), ...sigma(get(E), 6, 11, 25, RIGHT), ADD],
    ...[...get(G), ...get(E), ...get(F), ...get(G), XOR, AND, XOR, ADD],
    ...[...get(I), ...load(CONSTANTS), ADD, ...get(I), ...load(SCHEDULE), ADD, ...set(T)],
    ...[...get(G), ...set(H), ...get(F), ...set(G), ...get(E), ...set(F), ...get(D), ...get(T), ADD, ...set(E)],
    ...[...get(T), ...sigma(get(A), 2, 13, 22, RIGHT), ADD],
    ...[...get(A), ...get(B), AND, ...get(C), ...get(A), ...get(B), OR, AND, OR, ADD],
    ...[...get(C), ...set(D), ...get(B), ...set(C), ...get(A), ...set(B), ...set(A)],
    ...next(256),
  ),
  ...WORDS.flatMap((word, at) => [
    ...[...i32(0), ...i32(0), ...load(STATE + 4 * at), ...get(word), ADD, ...store(STATE + 4 * at)],
  ]),
];
const COMPRESS: Code = [
  ...loop(...SCHEDULING, ...ROUNDS, ...get(FROM), ...i32(64), ADD, ...tee(FROM), ...get(TO), LESS, ...AGAIN),
  0x0b,
];

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
function constants(): Code {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes.flatMap((prime) => {
    const word = Math.floor((Math.cbrt(prime) % 1) * 2 ** 32);
    return [word & 0xff, (word >>> 8) & 0xff, (word >>> 16) & 0xff, word >>> 24];
  });
}

const vector = (...items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
const name = (text: string): Code => [...unsigned(text.length), ...Buffer.from(text)];
const I32 = 0x7f;

export function assembled(): Buffer {
  const code = [...vector([11, I32]), ...COMPRESS];
  return Buffer.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector([0x60, 2, I32, I32, 0])),
    ...section(3, vector([0])),
    ...section(5, vector([0, 1])),
    ...section(7, vector([...name('m'), 2, 0], [...name('c'), 0, 0])),
    ...section(10, vector([...unsigned(code.length), ...code])),
    ...section(11, vector([0, ...i32(CONSTANTS), 0x0b, ...vector(...constants().map((byte) => [byte]))])),
  ]);
}
