import type { IncomingMessage } from 'node:http';
import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** `deflate` means the zlib format, but some servers send raw deflate. A zlib header has method 8 in its first byte. */
const inflate = (first: number): Transform => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw());

/**
 * Returns the decompressed body of a response; null if its encoding is unknown. Limits apply to the decompressed bytes,
 * so a decompression bomb is cut. Destroying the body stops the decompression. A response without a body is empty,
 * whatever its encoding header says.
 */
export function decompressResponse(response: IncomingMessage): Readable | null {
  switch ((response.headers['content-encoding'] ?? 'identity').toLowerCase()) {
    case 'identity':
    case '':
      return response;
    case 'gzip':
    case 'x-gzip':
      return pipeThrough(response, () => createGunzip());
    case 'deflate':
      return pipeThrough(response, inflate);
    case 'br':
      return pipeThrough(response, () => createBrotliDecompress());
    default:
      return null;
  }
}

function pipeThrough(response: IncomingMessage, unpack: (first: number) => Transform): Readable {
  const body = new PassThrough();
  response.once('readable', () => {
    const head = response.read() as Buffer | null;
    if (head === null) {
      body.end();
      return;
    }
    response.unshift(head);
    // An error of any stream becomes an error of the body.
    pipeline(response, unpack(head[0]!), body, () => {});
  });
  return body;
}
