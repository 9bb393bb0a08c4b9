import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decompressResponse } from '../../../src/tools/web/decompress.ts';

const answer = (encoding: string, bytes: Buffer, { ends = true } = {}): IncomingMessage => {
  const stream = new Readable({ read() {} });
  stream.push(bytes);
  if (ends) stream.push(null);
  return Object.assign(stream, { headers: { 'content-encoding': encoding } }) as unknown as IncomingMessage;
};

it.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
] as const)('unpacking %s stops when the reader has enough', async (encoding, pack) => {
  const response = answer(encoding, pack(Buffer.alloc(4 << 20)), { ends: false });
  const body = decompressResponse(response)!;
  await once(body, 'data');
  const closed = new Promise((resolve) => response.on('error', () => {}).once('close', resolve));
  body.destroy();
  await closed;
  expect(response.destroyed).toBe(true);
  expect(body.destroyed).toBe(true);
});

it('other encodings are refused', () => {
  expect(decompressResponse(answer('gzip, br', Buffer.from('x')))).toBeNull();
});

it('truncated compressed data is an error', async () => {
  const body = decompressResponse(answer('gzip', gzipSync('a'.repeat(10_000)).subarray(0, 30)))!;
  await expect(body.toArray()).rejects.toThrow('unexpected end of file');
});
