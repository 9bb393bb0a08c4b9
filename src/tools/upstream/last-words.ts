const KEPT_BYTES = 8 * 1024;
const SHOWN = 300;

/** The end of what a program wrote to its standard error. */
export class LastWords {
  #text = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#text = Buffer.concat([this.#text, chunk.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
  }

  /** The last line that is not blank, fit to be shown; null if there is none. */
  line(): string | null {
    const lines = this.#text
      .toString('utf8')
      .split(/[\r\n]+/)
      .map((line) => plain(line).trim())
      .filter((line) => line !== '');
    return lines.at(-1)?.slice(0, SHOWN) ?? null;
  }
}

/** Without escape sequences, control characters and what turns the direction of text. */
export const plain = (text: string): string =>
  text
    .replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ');
