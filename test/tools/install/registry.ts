import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

interface Package {
  readonly name: string;
  readonly version: string;
  readonly files: { readonly [path: string]: string };
  readonly scripts?: { readonly [name: string]: string };
}

/** A registry for npm on the loopback address: it serves packages, and takes those that are published. */
export async function serveRegistry(packages: readonly Package[]) {
  const tarballs = new Map<string, Buffer>();
  const published: { readonly name: string; readonly token: string | undefined }[] = [];
  const server = http.createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1);
    const tarball = tarballs.get(path);
    const found = packages.find(({ name }) => name === path);
    if (request.method === 'PUT') {
      published.push({ name: path, token: request.headers.authorization });
      request.resume().on('end', () => response.writeHead(201, { 'content-type': 'application/json' }).end('{}'));
    } else if (tarball) response.end(tarball);
    else if (found) response.end(JSON.stringify(document(found)));
    else response.writeHead(404).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const urlOf = ({ name, version }: Package) => `http://${place}/${name}-${version}.tgz`;
  const integrityOf = (one: Package) => {
    const bytes = tarballs.get(`${one.name}-${one.version}.tgz`)!;
    return `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
  };
  const document = (one: Package) => ({
    name: one.name,
    'dist-tags': { latest: one.version },
    versions: {
      [one.version]: {
        name: one.name,
        version: one.version,
        ...(one.scripts ? { scripts: one.scripts, hasInstallScript: true } : {}),
        dist: { tarball: urlOf(one), integrity: integrityOf(one) },
      },
    },
  });
  for (const one of packages) tarballs.set(`${one.name}-${one.version}.tgz`, pack(one));
  const lock = (name: string) => ({
    name,
    version: '1.0.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name, version: '1.0.0', dependencies: Object.fromEntries(packages.map((one) => [one.name, one.version])) },
      ...Object.fromEntries(
        packages.map((one) => [
          `node_modules/${one.name}`,
          {
            version: one.version,
            resolved: urlOf(one),
            integrity: integrityOf(one),
            ...(one.scripts ? { hasInstallScript: true } : {}),
          },
        ]),
      ),
    },
  });
  /** The manifest and the lock file of a project that depends on all packages. */
  const project = {
    'package.json': JSON.stringify({
      name: 'mine',
      version: '1.0.0',
      dependencies: Object.fromEntries(packages.map((one) => [one.name, one.version])),
    }),
    'package-lock.json': JSON.stringify(lock('mine')),
  };
  return { place, url: `http://${place}/`, project, published };
}

function pack({ name, version, files, scripts }: Package): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'hopgate-test-'));
  try {
    const manifest = JSON.stringify({ name, version, main: 'index.js', ...(scripts ? { scripts } : {}) });
    for (const [path, text] of Object.entries({ ...files, 'package.json': manifest })) {
      mkdirSync(dirname(join(folder, 'package', path)), { recursive: true });
      writeFileSync(join(folder, 'package', path), text);
    }
    chmodSync(join(folder, 'package'), 0o755);
    execFileSync('tar', ['czf', 'package.tgz', 'package'], { cwd: folder });
    return readFileSync(join(folder, 'package.tgz'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
