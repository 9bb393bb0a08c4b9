import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findProgram } from '../../../src/base/process.ts';
import { DEFAULT_MASKS } from '../../../src/spec/policy/default-masks.ts';
import type { Sandbox } from '../../../src/tools/sandbox/sandbox.ts';
import { shellBackend } from '../../../src/tools/shell/shell-backend.ts';
import { isDeep } from '../../depth.ts';
import { sandbox, scratch, toolCall } from '../shell/support.ts';

/** A name that exists nowhere: only the operator's proxy knows its address. */
const HOST = 'packages.example';
// The programs of the machine, not those of this package.
const PATH = process.env['PATH']!.split(delimiter)
  .filter((part) => !part.includes('node_modules'))
  .join(delimiter);
const env = { ...process.env, PATH };
const run = (cwd: string, program: string, ...words: string[]) =>
  execFileSync(program, words, { cwd, env: { ...env, GOFLAGS: '-mod=mod', GOSUMDB: 'off' }, stdio: 'pipe' });
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const has = (...programs: string[]) => isDeep && programs.every((program) => findProgram(program, PATH) !== null);

/** Cargo reads sparse registries since 1.68; Debian 12 has an older one. */
const hasSparseCargo = (): boolean =>
  has('cargo', 'openssl') && Number(/ 1\.(\d+)/.exec(String(run('/', 'cargo', '--version')))?.[1]) >= 68;

const ZIP =
  'import json, sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], "w")\nfor n, t in json.loads(sys.argv[2]).items(): z.writestr(n, t)\nz.close()';
const zip = (path: string, files: { readonly [name: string]: string }) =>
  run('/', 'python3', '-c', ZIP, path, JSON.stringify(files));

async function listening<T extends Server>(server: T): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A registry over TLS with a certificate of its own, behind a proxy that asks for a password. */
async function companyNetwork(root: string, files: ReadonlyMap<string, Buffer | string>) {
  const [key, cert] = [join(scratch(), 'key'), join(root, 'ca.crt')];
  const names = [
    '-subj',
    `/CN=${HOST}`,
    '-addext',
    `subjectAltName=DNS:${HOST}`,
    '-addext',
    'basicConstraints=CA:TRUE',
  ];
  run(
    root,
    'openssl',
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    cert,
    ...names,
  );
  const asked: string[] = [];
  const options = { key: readFileSync(key), cert: readFileSync(cert) };
  const registry = await listening(
    https.createServer(options, (request, response) => {
      const path = decodeURIComponent(request.url!.replace(/\?.*/, ''));
      asked.push(path);
      const file = files.get(path);
      if (file === undefined) response.writeHead(404).end();
      else response.setHeader('content-type', path.endsWith('/') ? 'text/html' : 'application/octet-stream').end(file);
    }),
  );
  const proxy = http.createServer();
  proxy.on('connect', (request, socket) => {
    const login = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    if (request.url !== `${HOST}:443` || request.headers['proxy-authorization'] !== login)
      return socket.end('HTTP/1.1 407 No\r\n\r\n');
    const remote = connect(registry, '127.0.0.1').on('error', () => socket.destroy());
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    remote.pipe(socket.on('error', () => remote.destroy())).pipe(remote);
  });
  return { asked, proxy: `http://me:secret@127.0.0.1:${await listening(proxy)}` };
}

function repository(files: { readonly [path: string]: string }): string {
  const root = scratch(files);
  run(root, 'git', 'init', '-q');
  run(root, 'git', 'add', '-A');
  run(root, 'git', '-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'first');
  return root;
}

const CONFIG = { mask: DEFAULT_MASKS, cache: [{ folder: '~/.cargo/registry', read: false }] };
const backend = (proxy: string, real: Sandbox) => shellBackend(real, () => ({ ...env, HTTPS_PROXY: proxy }));

/** Runs an install command with the proxy in the operator's environment; its result. */
async function install(root: string, proxy: string, words: readonly string[], variables: { [name: string]: string }) {
  const command = { run: words, hosts: [HOST], env: variables, scripts: false, approval: false } as const;
  const call = toolCall(root, 'install', {}, { config: { ...CONFIG, install: [command] }, seconds: 100 });
  const report = await backend(proxy, await sandbox()).run(call);
  if (report.outcome.status !== 'ok') throw new Error(JSON.stringify(report.outcome));
  // biome-ignore lint/suspicious/noExplicitAny: results are JSON
  const result = report.outcome.result as any;
  expect(JSON.stringify(result)).not.toContain('secret');
  return { result, effects: report.effects };
}

const CONNECTED = [{ path: `${HOST}:443`, op: 'connect' }];

describe('an install through a company’s proxy, over TLS with a certificate of the company', () => {
  it.runIf(has('python3', 'openssl'))('works with pip', async () => {
    const root = repository({ '.gitignore': '.venv/\n*.whl\n', 'requirements.txt': 'hello==1.0\n' });
    run(root, 'python3', '-m', 'venv', '.venv');
    const wheel = 'hello-1.0-py3-none-any.whl';
    zip(join(root, wheel), {
      'hello.py': 'WORD = 42\n',
      'hello-1.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n',
      'hello-1.0.dist-info/WHEEL': 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
      'hello-1.0.dist-info/RECORD': '',
    });
    const bytes = readFileSync(join(root, wheel));
    const { proxy, asked } = await companyNetwork(
      root,
      new Map<string, Buffer | string>([
        ['/simple/hello/', `<a href="/files/${wheel}#sha256=${sha256(bytes)}">${wheel}</a>`],
        [`/files/${wheel}`, bytes],
      ]),
    );
    const words = ['.venv/bin/pip', 'install', '-r', 'requirements.txt'];
    const variables = {
      PIP_INDEX_URL: `https://${HOST}/simple/`,
      PIP_CERT: join(root, 'ca.crt'),
      PIP_CONFIG_FILE: '/dev/null',
    };
    const { result, effects } = await install(root, proxy, words, variables);
    expect(result, JSON.stringify(result)).toMatchObject({ exit: 0, kept: ['.venv'] });
    expect(effects).toEqual(CONNECTED);
    expect(asked).toContain(`/files/${wheel}`);
    expect(`${run(root, '.venv/bin/python', '-c', 'import hello; print(hello.WORD)')}`).toBe('42\n');
  });

  it.runIf(has('go', 'openssl'))('works with Go', async () => {
    const root = repository({
      '.gitignore': 'vendor/\nproxy/\n',
      'go.mod': 'module example.com/shop\n\ngo 1.19\n\nrequire example.com/dep v1.0.0\n',
      'main.go': 'package main\n\nimport "example.com/dep"\n\nfunc main() { println(dep.Word) }\n',
    });
    const served = 'proxy/example.com/dep/@v';
    run(root, 'mkdir', '-p', served);
    const [manifest, code] = ['module example.com/dep\n', 'package dep\n\nconst Word = 42\n'];
    zip(join(root, served, 'v1.0.0.zip'), {
      'example.com/dep@v1.0.0/go.mod': manifest,
      'example.com/dep@v1.0.0/dep.go': code,
    });
    writeFileSync(join(root, served, 'v1.0.0.mod'), manifest);
    writeFileSync(join(root, served, 'v1.0.0.info'), '{"Version":"v1.0.0"}');
    writeFileSync(join(root, served, 'list'), 'v1.0.0\n');
    const modules = scratch();
    run(root, 'env', `GOPROXY=file://${root}/proxy`, `GOMODCACHE=${modules}`, 'go', 'mod', 'tidy');
    run(root, 'chmod', '-R', 'u+w', modules);
    const file = (name: string) => [`/example.com/dep/@v/${name}`, readFileSync(join(root, served, name))] as const;
    const { proxy, asked } = await companyNetwork(
      root,
      new Map([file('list'), file('v1.0.0.info'), file('v1.0.0.mod'), file('v1.0.0.zip')]),
    );
    const variables = {
      GOPROXY: `https://${HOST}`,
      GOSUMDB: 'off',
      SSL_CERT_FILE: join(root, 'ca.crt'),
      SSL_CERT_DIR: '/none',
    };
    const { result, effects } = await install(root, proxy, ['go', 'mod', 'vendor'], variables);
    expect(result, JSON.stringify(result)).toMatchObject({ exit: 0, kept: ['vendor'] });
    expect(effects).toEqual(CONNECTED);
    expect(asked).toContain('/example.com/dep/@v/v1.0.0.zip');
    expect(existsSync(join(root, 'vendor/example.com/dep/dep.go'))).toBe(true);
  });

  it.runIf(hasSparseCargo())('works with Cargo', async () => {
    const made = scratch({
      'hello-1.0.0/Cargo.toml': '[package]\nname = "hello"\nversion = "1.0.0"\nedition = "2021"\n',
      'hello-1.0.0/src/lib.rs': 'pub const WORD: i32 = 42;\n',
    });
    run(made, 'tar', 'czf', 'hello.crate', 'hello-1.0.0');
    const crate = readFileSync(join(made, 'hello.crate'));
    const cksum = sha256(crate);
    const root = repository({
      '.gitignore': 'vendor/\n',
      'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nhello = "1"\n',
      'Cargo.lock': `version = 3\n\n[[package]]\nname = "hello"\nversion = "1.0.0"\nsource = "registry+https://github.com/rust-lang/crates.io-index"\nchecksum = "${cksum}"\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\ndependencies = [\n "hello",\n]\n`,
      'src/main.rs': 'fn main() { println!("{}", hello::WORD); }\n',
      '.cargo/config.toml': `[source.crates-io]\nreplace-with = "ours"\n[source.ours]\nregistry = "sparse+https://${HOST}/index/"\n`,
    });
    const entry = { name: 'hello', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false };
    const { proxy, asked } = await companyNetwork(
      root,
      new Map<string, Buffer | string>([
        ['/index/config.json', JSON.stringify({ dl: `https://${HOST}/crates` })],
        ['/index/he/ll/hello', `${JSON.stringify(entry)}\n`],
        ['/crates/hello/1.0.0/download', crate],
      ]),
    );
    const variables = { CARGO_HTTP_CAINFO: join(root, 'ca.crt') };
    const { result, effects } = await install(root, proxy, ['cargo', 'fetch', '--locked'], variables);
    expect(result, JSON.stringify(result)).toMatchObject({ exit: 0 });
    expect(effects).toEqual(CONNECTED);
    expect(asked).toContain('/crates/hello/1.0.0/download');
    // The session's test runs find the package in its cache.
    const test = { run: ['cargo', 'run', '-q', '--offline'], report: 'none' } as const;
    const call = toolCall(
      root,
      'bash-test',
      { command: test.run.join(' ') },
      { config: { ...CONFIG, test: [test] }, seconds: 100 },
    );
    const { outcome } = await backend(proxy, await sandbox()).run(call);
    expect(outcome).toMatchObject({ status: 'ok', result: { exit: 0, stdout: '42\n' } });
  });
});
