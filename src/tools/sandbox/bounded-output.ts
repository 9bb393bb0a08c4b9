export interface CutText {
  readonly text: string;
  readonly truncated: boolean;
}

/** Keeps the head and the tail of a stream in about `capBytes`; counts bytes, and never splits a UTF-8 character. */
export class BoundedOutput {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headSize = 0;
  #tailSize = 0;
  /** Number of bytes pushed so far. */
  total = 0;

  constructor(capBytes: number) {
    this.#headBytes = Math.ceil(capBytes / 2);
    this.#tailBytes = Math.floor(capBytes / 2);
  }

  push(chunk: Buffer): void {
    this.total += chunk.length;
    const toHead = Math.min(chunk.length, this.#headBytes - this.#headSize);
    if (toHead > 0) {
      this.#head.push(Buffer.from(chunk.subarray(0, toHead)));
      this.#headSize += toHead;
    }
    if (toHead === chunk.length) return;
    this.#tail.push(Buffer.from(chunk.subarray(toHead)));
    this.#tailSize += chunk.length - toHead;
    while (this.#tail.length > 0 && this.#tailSize - this.#tail[0]!.length >= this.#tailBytes)
      this.#tailSize -= this.#tail.shift()!.length;
  }

  kept(): CutText {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const leftOut = this.total - this.#headSize - Math.min(tail.length, this.#tailBytes);
    if (leftOut === 0) return { text: Buffer.concat([head, tail]).toString('utf8'), truncated: false };
    const start = head.subarray(0, wholeCharactersLength(head));
    const cut = this.#tailBytes === 0 ? Buffer.alloc(0) : tail.subarray(-this.#tailBytes);
    const end = cut.subarray(firstCharacter(cut));
    const dropped = this.total - start.length - end.length;
    return {
      text: `${start.toString('utf8')}\n[… ${dropped} bytes left out; print them in parts with grep, head or sed -n …]\n${end.toString('utf8')}`,
      truncated: true,
    };
  }
}

/** The head and tail of a text, as {@link BoundedOutput} keeps them. */
export function cutToHeadAndTail(text: string, capBytes: number): CutText {
  const output = new BoundedOutput(capBytes);
  output.push(Buffer.from(text, 'utf8'));
  return output.kept();
}

const isContinuation = (byte: number) => (byte & 0xc0) === 0x80;

/** Length of the longest prefix that does not end inside a UTF-8 character. */
export function wholeCharactersLength(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && start >= 0 && isContinuation(bytes[start]!)) start -= 1;
  if (start < 0) return bytes.length;
  const lead = bytes[start]!;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + size > bytes.length ? start : bytes.length;
}

/** The index at which the first whole character starts. */
function firstCharacter(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && start < bytes.length && isContinuation(bytes[start]!)) start += 1;
  return start;
}
