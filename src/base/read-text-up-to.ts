/** The body of an HTTP answer as text; throws the given error once it has more bytes than `most`. */
export async function readTextUpTo(most: number, { body }: Response, tooLarge: () => Error): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body ?? []) {
    size += part.length;
    if (size > most) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
