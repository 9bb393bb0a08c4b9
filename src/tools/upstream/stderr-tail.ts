const KEPT_BYTES = 8 * 1024;
const SHOWN = 300;

/** Keeps the tail of a program's standard error. */
export class StderrTail {
  #text = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#text = Buffer.concat([this.#text, chunk.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
  }

  /** Returns the last non-blank line, safe to print; null if there is none. */
  lastLine(): string | null {
    const lines = this.#text
      .toString('utf8')
      .split(/[\r\n]+/)
      .map((line) => removeControlCharacters(line).trim())
      .filter((line) => line !== '');
    return lines.at(-1)?.slice(0, SHOWN) ?? null;
  }
}

/** Removes escape sequences, control characters and bidi controls. */
export const removeControlCharacters = (text: string): string =>
  text
    .replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ');
