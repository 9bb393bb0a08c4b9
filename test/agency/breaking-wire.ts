import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The place at which a wire breaks: after so many bytes in one direction, counted from the call of `cut`. */
export interface Cut {
  readonly up?: number;
  readonly down?: number;
}

/** A wire to a port. It breaks once after each `cut`; later connections hold. */
export async function openWire(port: number, host = '127.0.0.1') {
  let limits: Cut = {};
  let passed = { up: 0, down: 0 };
  let isBroken = false;
  const pass = (from: Socket, to: Socket, way: 'up' | 'down', both: () => void): void => {
    from.on('data', (chunk) => {
      const limit = limits[way];
      if (isBroken || limit === undefined) return void to.write(chunk);
      const left = limit - passed[way];
      passed[way] += chunk.length;
      if (chunk.length < left) return void to.write(chunk);
      isBroken = true;
      to.write(chunk.subarray(0, left), both);
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
  };
  const server = createServer((near) => {
    const far = connect(port, host);
    const both = () => {
      near.destroy();
      far.destroy();
    };
    pass(near, far, 'up', both);
    pass(far, near, 'down', both);
  });
  return {
    server,
    port: await listening(server),
    isBroken: () => isBroken,
    cut(next: Cut) {
      limits = next;
      passed = { up: 0, down: 0 };
      isBroken = false;
    },
  };
}

/** Listens on a free port of 127.0.0.1. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
