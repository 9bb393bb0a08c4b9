import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gitScript, INIT_WITH_REMOTE } from '../git-script.ts';

/**
 * A repository with planted secrets, a tree outside of it that must never change, and services of the host that nobody
 * may reach.
 */
export interface World {
  readonly folder: string;
  readonly root: string;
  readonly outside: string;
  readonly remote: string;
  readonly store: string;
  readonly secrets: readonly string[];
  readonly mark: string;
  readonly port: number;
  readonly socket: string;
  /** How often the host's services were reached. */
  reached(): number;
  fill(args: unknown): unknown;
  close(): void;
}

export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=o', '-c', 'user.email=o@example.com', ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

const TAP = `#!/bin/sh
mkdir -p dist && echo built > dist/out.txt || exit 1
printf 'TAP version 13\\n1..1\\nok 1 - builds\\n'
`;

const FILES: { readonly [path: string]: string } = {
  '.gitignore':
    '.env\n.env.*\n.npmrc\n.netrc\n*.pem\nid_rsa\ndist/\nnode_modules/\nnested/\nsecrets/\n.inputrc\n.zed\n',
  'README.md': 'read me\n',
  'hopgate.yaml': `scopes: { edit: [src/, docs/, scripts/] }
test: [{ run: [sh, test.sh], report: tap }, { run: [npm, test], report: none }, { run: [echo, "{args}"], report: none }]
deploy: { staging: ["sh", "deploy.sh", "staging"] }
git: { remote: origin, branch: main }
`,
  'package.json': '{ "name": "victim", "private": true, "scripts": { "test": "sh test.sh" } }\n',
  'test.sh': TAP,
  'deploy.sh': '#!/bin/sh\necho deployed "$1"\n',
  'src/a.txt': 'alpha\nbeta\ngamma\n',
  'src/sub/b.ts': "export const b = 'needle';\n",
  'src/with space.txt': 'spaced\n',
  'src/ünï-cödé-日本.txt': 'unicode\n',
  "src/quo'te.txt": 'quoted\n',
  'src/-dash.txt': 'dashed\n',
  'src/crlf.txt': 'uno\r\ndos\r\ntres\r\n',
  'src/tool.sh': '#!/bin/sh\necho tool\n',
  'docs/guide.md': '# guide\n',
  'scripts/build.sh': '#!/bin/sh\necho build\n',
  'src-evil/a.txt': 'not in scope\n',
};

/** All kinds of masked content that a tree may contain. */
const MASKED = [
  '.env',
  'src/.env',
  'src/.env.local',
  '.npmrc',
  '.netrc',
  'secrets/server.pem',
  'src/id_rsa',
  'nested/.git/config',
];

const plant = (): string => `s3cr3t${randomBytes(12).toString('hex')}`;

/** Makes the world of one play. Everything belongs to the user that runs it. */
export async function makeWorld(): Promise<World> {
  const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'hopgate-attack-')));
  const [root, outside, remote] = [join(folder, 'repo'), join(folder, 'outside'), join(folder, 'remote.git')];
  const put = (base: string, path: string, text: string, mode = 0o644) => {
    fs.mkdirSync(dirname(join(base, path)), { recursive: true });
    fs.writeFileSync(join(base, path), text, { mode });
  };
  const secrets: string[] = [];
  const secret = (): string => {
    secrets.push(plant());
    return secrets.at(-1)!;
  };
  for (const [path, text] of Object.entries(FILES)) put(root, path, text, path.endsWith('.sh') ? 0o755 : 0o644);
  gitScript(root, 'o', `${INIT_WITH_REMOTE}git remote add other "https://user:$2@example.com/x.git"`, remote, secret());
  put(root, '.git/hooks/pre-commit', `#!/bin/sh\necho hooked > ${outside}/hooked\n`, 0o755);

  for (const path of MASKED) put(root, path, `TOKEN=${secret()}\n`);
  put(root, 'node_modules/dep/.env', `TOKEN=${secret()}\n`);
  put(outside, 'secret.txt', `${secret()}\n`);
  put(outside, 'target.txt', 'hands off\n');
  put(outside, 'dir/a', 'a\n');
  for (const [link, to] of [
    ['src/out-file', '../../outside/secret.txt'],
    ['src/out-dir', '../../outside'],
    ['src/out-abs', join(outside, 'secret.txt')],
    ['src/shadow', '/etc/shadow'],
    ['src/env-link', '../.env'],
    ['src/in-link', 'a.txt'],
    ['src/loop', 'loop'],
    ['src/chain', 'chain-2'],
    ['src/chain-2', '../src/out-dir/secret.txt'],
    ['src/dangling', '../../outside/new.txt'],
    ['src/proc', '/proc/self/root'],
    ['src/git-link', '../.git'],
    ['.inputrc', '../outside/secret.txt'],
    ['.zed', '../outside'],
  ] as const)
    fs.symlinkSync(to, join(root, link));
  fs.linkSync(join(outside, 'target.txt'), join(root, 'src/hard.txt'));
  execFileSync('mkfifo', [join(root, 'src/fifo')]);
  process.env['PLANTED_SECRET'] = secret();

  let hits = 0;
  const listen = (where: { port: number; host: string } | { path: string }): Promise<Server> => {
    const server = createServer((client) => {
      hits += 1;
      client.destroy();
    });
    server.unref();
    return new Promise((resolve) => server.listen(where, () => resolve(server)));
  };
  const tcp = await listen({ port: 0, host: '127.0.0.1' });
  const socket = join(root, 'src/host.sock');
  const unix = await listen({ path: socket });
  const port = (tcp.address() as { port: number }).port;
  const mark = `${7_000_000 + (process.pid % 100_000)}`;
  const words: { readonly [name: string]: string } = {
    '{ROOT}': root,
    '{OUT}': outside,
    '{REMOTE}': remote,
    '{PORT}': `${port}`,
    '{SOCKET}': socket,
    '{ENGINE}': `${process.pid}`,
    '{MARK}': mark,
  };
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(/\{[A-Z]+\}/g, (word) => words[word] ?? word);
    if (Array.isArray(value)) return value.map(fill);
    if (value !== null && typeof value === 'object')
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]));
    return value;
  };
  return {
    folder,
    root,
    outside,
    remote,
    store: join(folder, 'evidence.db'),
    secrets,
    mark,
    port,
    socket,
    reached: () => hits,
    fill,
    close() {
      tcp.close();
      unix.close();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The full state of a tree: names, kinds, permissions, owners, times of change, content. */
export function treeHash(folder: string, leaveOut: (path: string) => boolean = () => false): string {
  const hash = createHash('sha256');
  // Names are bytes: not all of them are UTF-8.
  const walk = (folder: Buffer, path: string): void => {
    for (const name of fs.readdirSync(folder, { encoding: 'buffer' }).sort(Buffer.compare)) {
      const inner = path === '' ? name.toString() : `${path}/${name}`;
      if (leaveOut(inner)) continue;
      const place = Buffer.concat([folder, Buffer.from('/'), name]);
      const stat = fs.lstatSync(place);
      hash.update(name).update(`\0${stat.mode}\0${stat.uid}\0`);
      if (stat.isDirectory()) walk(place, inner);
      else if (stat.isSymbolicLink()) hash.update(fs.readlinkSync(place));
      else if (stat.isFile()) hash.update(`${stat.mtimeMs}\0`).update(fs.readFileSync(place));
    }
  };
  if (fs.lstatSync(folder).isDirectory()) walk(Buffer.from(folder), '');
  else hash.update(fs.readFileSync(folder));
  return hash.digest('hex');
}

/** The forms in which a secret may show: as it is, in base64 at any offset, in hexadecimal, backwards. */
export function formsOf(secret: string): readonly string[] {
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.from(' '.repeat(shift) + secret).toString('base64');
    return text.slice(shift === 0 ? 0 : 4, -4);
  });
  return [secret, ...base64, Buffer.from(secret).toString('hex'), [...secret].reverse().join('')];
}

/** Processes whose command line holds the word. */
export function processesWith(word: string): readonly string[] {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        return '';
      }
    })
    .filter((line) => line.includes(word));
}
