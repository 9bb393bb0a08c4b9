import { isIP } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import { valueOr } from '../../base/value-or.ts';
import { canonicalHost } from '../../gate/scope/host-names.ts';

/** Types of TLS records; the major version of each is 3. */
const RECORDS = [20, 21, 22, 23, 24];
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const UNREADABLE = 'unreadable';
/** Maximum size of a client hello: it must fit into one TLS record. */
const MAX_BYTES = 5 + (1 << 14);

/**
 * Passes the bytes of a tunnel on, and compares the server name of a TLS client hello with the tunnel's host: servers
 * that share an address use this name. Bytes that are not TLS pass unchecked.
 */
export class ServerNameCheck extends Transform {
  readonly #host: string;
  readonly #refuse: (name: string) => void;
  #held: Buffer | null = Buffer.alloc(0);

  /**
   * @param refuse called with the name if it differs from the host, or with `unreadable`; no byte was passed on before
   */
  constructor(host: string, refuse: (name: string) => void) {
    super();
    this.#host = host;
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    if (this.#held === null) return done(null, chunk);
    this.#held = Buffer.concat([this.#held, chunk]);
    const name = serverName(this.#held);
    if (name === undefined) return done();
    const held = this.#held;
    this.#held = null;
    if (name === null || isIP(this.#host) !== 0 || canonicalHost(name) === this.#host) return done(null, held);
    this.#refuse(name);
    done();
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#held);
  }
}

/**
 * The server name of a TLS client hello; null if there is none; undefined if more bytes are needed. A hello that does
 * not fit into its first record could hide its name, so it counts as unreadable. So does a hello after another record,
 * such as a warning, because servers skip that record.
 */
function serverName(bytes: Buffer): string | null | undefined {
  if (bytes.length < 2) return bytes.length === 0 || RECORDS.includes(bytes[0]!) ? undefined : null;
  if (!RECORDS.includes(bytes[0]!) || (bytes[0] !== HANDSHAKE && bytes[1] !== 3)) return null;
  if (bytes[0] !== HANDSHAKE) return UNREADABLE;
  if (bytes.length < 5) return undefined;
  const end = 5 + bytes.readUInt16BE(3);
  if (end > MAX_BYTES) return UNREADABLE;
  if (bytes.length < end) return undefined;
  return valueOr(() => nameIn(bytes.subarray(5, end)), UNREADABLE);
}

function nameIn(hello: Buffer): string | null {
  if (hello[0] !== CLIENT_HELLO || 4 + hello.readUIntBE(1, 3) !== hello.length) return UNREADABLE;
  // The session id follows the type and length (4 bytes), the version (2) and the random (32).
  let at = 38;
  // The widths of the lengths of the session id, the cipher suites and the compression methods, which are skipped.
  for (const width of [1, 2, 1]) at += width + hello.readUIntBE(at, width);
  let name: string | null = null;
  for (at += 2; at + 4 <= hello.length; ) {
    const [type, size] = [hello.readUInt16BE(at), hello.readUInt16BE(at + 2)];
    if (type === SERVER_NAME) {
      // The list's length (2 bytes), the name's type (1) and length (2). A list of several names counts as unreadable.
      const length = hello.readUInt16BE(at + 7);
      if (name !== null || hello[at + 6] !== 0 || size !== length + 5) return UNREADABLE;
      name = hello.toString('latin1', at + 9, at + 9 + length);
    }
    at += 4 + size;
  }
  return name;
}
