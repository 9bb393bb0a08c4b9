/** The part of WebAssembly that is used here; Node's types have none of it. */
interface Wasm {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: { readonly [name: string]: unknown } };
}

/** Sha256's round constants in memory, and one function that compresses blocks; test/daemon/sha256-module.ts assembles it. */
export const MODULE =
  'AGFzbQEAAAABBgFgAn9/AAMCAQAFAwEAAQcJAgFtAgABYwAACuYDAeMDAQt/A0BBACEKA0AgCiAAIApqKAIAIgtBCHdB/4H8B3EgC0EIeEGA/o' +
  'N4cXI2AsACIApBBGoiCkHAAEkNAAsDQCAKIAooArgCIgxBEXggDEETeHMgDEEKdnMgCigCpAJqIAooAoQCIgxBB3ggDEESeHMgDEEDdnNqIAoo' +
  'AoACajYCwAIgCkEEaiIKQYACSQ0AC0EAKAKAAiECQQAoAoQCIQNBACgCiAIhBEEAKAKMAiEFQQAoApACIQZBACgClAIhB0EAKAKYAiEIQQAoAp' +
  'wCIQlBACEKA0AgCSAGIgxBBnggDEELeHMgDEEZeHNqIAggBiAHIAhzcXNqIAooAgBqIAooAsACaiELIAghCSAHIQggBiEHIAUgC2ohBiALIAIi' +
  'DEECeCAMQQ14cyAMQRZ4c2ogAiADcSAEIAIgA3JxcmogBCEFIAMhBCACIQMhAiAKQQRqIgpBgAJJDQALQQBBACgCgAIgAmo2AoACQQBBACgChA' +
  'IgA2o2AoQCQQBBACgCiAIgBGo2AogCQQBBACgCjAIgBWo2AowCQQBBACgCkAIgBmo2ApACQQBBACgClAIgB2o2ApQCQQBBACgCmAIgCGo2ApgC' +
  'QQBBACgCnAIgCWo2ApwCIABBwABqIgAgAUkNAAsLC4cCAQBBAAuAApgvikKRRDdxz/vAtaXbtelbwlY58RHxWaSCP5LVXhyrmKoH2AFbgxK+hT' +
  'Ekw30MVXRdvnL+sd6Apwbcm3Txm8HBaZvkhke+78adwQ/MoQwkbyzpLaqEdErcqbBc2oj5dlJRPphtxjGoyCcDsMd/Wb/zC+DGR5Gn1VFjygZn' +
  'KSkUhQq3JzghGy78bSxNEw04U1RzCmW7Cmp2LsnCgYUscpKh6L+iS2YaqHCLS8KjUWzHGeiS0SQGmdaFNQ70cKBqEBbBpBkIbDceTHdIJ7W8sD' +
  'SzDBw5SqrYTk/KnFvzby5o7oKPdG9jpXgUeMiECALHjPr/vpDrbFCk96P5vvJ4ccY=';

const STATE = 256;
const BLOCKS = 576;
const BLOCK = 64;
/** How many bytes of whole blocks the memory has room for, beside the two that a message may end in. */
const ROOM = Math.floor((65_536 - BLOCKS) / BLOCK) * BLOCK - 2 * BLOCK;
const INITIAL = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
] as const;

/** Sha256 (FIPS 180-4) without Node's crypto module. */
export class Sha256 {
  readonly #memory: Uint8Array;
  readonly #view: DataView;
  readonly #compress: (from: number, to: number) => void;

  /** @throws Error where there is no WebAssembly */
  constructor() {
    const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
    const { m, c } = new Instance(new Module(Buffer.from(MODULE, 'base64'))).exports;
    const { buffer } = m as { readonly buffer: ArrayBuffer };
    this.#memory = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.#compress = c as (from: number, to: number) => void;
  }

  hex(message: Uint8Array): string {
    const [memory, view] = [this.#memory, this.#view];
    for (const [i, word] of INITIAL.entries()) view.setUint32(STATE + 4 * i, word, true);
    let rest = message;
    for (; rest.length > ROOM; rest = rest.subarray(ROOM)) {
      memory.set(rest.subarray(0, ROOM), BLOCKS);
      this.#compress(BLOCKS, BLOCKS + ROOM);
    }
    // A one bit, zeros, and the message's length in bits.
    const end = BLOCKS + Math.ceil((rest.length + 9) / BLOCK) * BLOCK;
    memory.set(rest, BLOCKS);
    memory.fill(0, BLOCKS + rest.length, end);
    memory[BLOCKS + rest.length] = 0x80;
    view.setBigUint64(end - 8, BigInt(message.length) * 8n);
    this.#compress(BLOCKS, end);
    let hex = '';
    for (let i = 0; i < INITIAL.length; i++)
      hex += view
        .getUint32(STATE + 4 * i, true)
        .toString(16)
        .padStart(8, '0');
    return hex;
  }
}
