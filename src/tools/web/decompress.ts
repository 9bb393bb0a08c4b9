import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** `deflate` means zlib's format; some servers send the bare one. The first byte tells: a zlib header names method 8. */
const inflate = (first: number): Transform => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw());

/**
 * The body of an answer as it was before it was packed; null where its encoding is not understood. Limits count what comes out, so a small answer
 * that unpacks into a huge one is cut as well; destroying the body ends the unpacking. An answer without a body is an empty one, whatever it says of its encoding.
 */
export function decompress(response: IncomingMessage): Readable | null {
  switch ((response.headers['content-encoding'] ?? 'identity').toLowerCase()) {
    case 'identity':
    case '':
      return response;
    case 'gzip':
    case 'x-gzip':
      return through(response, () => createGunzip());
    case 'deflate':
      return through(response, inflate);
    case 'br':
      return through(response, () => createBrotliDecompress());
    default:
      return null;
  }
}

function through(response: IncomingMessage, unpack: (first: number) => Transform): Readable {
  const body = new PassThrough();
  response.once('readable', () => {
    const head = response.read() as Buffer | null;
    if (head === null) {
      body.end();
      return;
    }
    response.unshift(head);
    // An error of any part becomes one of the body.
    pipeline(response, unpack(head[0]!), body, () => {});
  });
  return body;
}
