import { fieldsOf, textOf } from './json.ts';
import { errorText } from './text.ts';

/** Why a request failed. The error of `fetch` says only "fetch failed"; its cause has the reason, or only a code. */
export function requestProblem(error: unknown): string {
  const { message, code } = fieldsOf(fieldsOf(error)['cause'] ?? error);
  return textOf(message) ?? textOf(code) ?? errorText(error);
}

/** The body of an HTTP answer as text; throws the given error once it has more bytes than `maxBytes`. */
export async function readResponseText(maxBytes: number, { body }: Response, tooLarge: () => Error): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > maxBytes) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
