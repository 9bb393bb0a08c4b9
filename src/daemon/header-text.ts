/** Encodes a text for an HTTP header: all bytes but printable ASCII as `%XX`. */
export const encodeHeader = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte > 0x20 && byte < 0x7f && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');

/** Decodes a text that {@link encodeHeader} encoded. */
export const decodeHeader = (text: string): string => {
  const bytes = text.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
};
