import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isDeep, sample } from '../../depth.ts';
import { ok, sandbox, scratch } from './support.ts';

/**
 * Services of the host: a datagram and a stream socket at a path each, and an abstract one of each kind. It names what
 * reaches it in the file `reached`.
 */
const SERVICES = `import os, socket, sys, threading
os.chdir(sys.argv[1])
def serve(kind, address):
  one = socket.socket(socket.AF_UNIX, kind)
  one.bind(address)
  if kind == socket.SOCK_STREAM: one.listen()
  def wait():
    while True:
      one.accept() if kind == socket.SOCK_STREAM else one.recv(9)
      open('reached', 'a').write(repr(address) + '\\n')
  threading.Thread(target=wait).start()
  if address[0] != chr(0): os.chmod(address, 0o777)
for folder in sys.argv[3:]:
  serve(socket.SOCK_DGRAM, folder + '/datagrams')
  serve(socket.SOCK_STREAM, folder + '/stream')
serve(socket.SOCK_DGRAM, chr(0) + sys.argv[2] + 'datagrams')
serve(socket.SOCK_STREAM, chr(0) + sys.argv[2] + 'stream')
print('ready', flush=True)`;

/** Tries each socket in every way, and also connects to a socket of its own, to show that the attempts work. */
const TRY = `import os, socket, sys
def attempt(what):
  try: what(); print('reached')
  except OSError as error: print(error.strerror)
def connected(address):
  with socket.socket(socket.AF_UNIX) as one: one.connect(address)
def sent(address):
  one, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
  one.sendto(b'x', address)
for folder in sys.argv[2:]:
  attempt(lambda: connected(folder + '/stream'))
  attempt(lambda: sent(folder + '/datagrams'))
attempt(lambda: connected(chr(0) + sys.argv[1] + 'stream'))
attempt(lambda: sent(chr(0) + sys.argv[1] + 'datagrams'))
print('tried')`;

async function withServices(files: { readonly [path: string]: string }, ...folders: readonly string[]) {
  const root = scratch({ 'try.py': TRY, ...files });
  const name = `hopgate-${randomUUID()}-`;
  const host: ChildProcess = spawn('python3', ['-c', SERVICES, root, name, ...folders], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void host.kill('SIGKILL'));
  await once(host.stdout!, 'data');
  const reached = () => (existsSync(join(root, 'reached')) ? readFileSync(join(root, 'reached'), 'utf8') : '');
  return { root, name, reached };
}

const FOLDERS = ['src', '.git', '.vscode'];
const FILES = { 'src/a': '', '.git/a': '', '.vscode/a': '' };

describe('a socket of the host', () => {
  it.each(sample(['bash', 'bash-readonly'], 2))('cannot be reached: %s', async (tool) => {
    const { root, name, reached } = await withServices(FILES, ...FOLDERS);
    const { result } = await ok(root, tool, { command: `python3 try.py ${name} ${FOLDERS.join(' ')}` });
    expect(result).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^(?:Connection refused\n|No such file or directory\n){8}tried\n$/),
    });
    expect(reached()).toBe('');
  });

  it.runIf(isDeep).each([
    ['bash-test', { test: [{ run: ['python3', 'try.py'], report: 'none' as const }] }, []],
    ['bash-deploy', { deploy: { d: { run: ['python3', 'try.py'], network: false } } }, ['name']],
    ['bash-deploy', { deploy: { d: { run: ['python3', 'try.py'], network: true } } }, ['name']],
  ])('cannot be reached by %s that is configured as %j', async (tool, config, given) => {
    const { root, name, reached } = await withServices(FILES, ...FOLDERS);
    const words = [name, ...FOLDERS];
    const changed = JSON.parse(
      JSON.stringify(config).replaceAll('"try.py"', JSON.stringify(['try.py', ...words]).slice(1, -1)),
    );
    const { result } = await ok(root, tool, given.length > 0 ? { name: 'd' } : {}, { config: changed });
    expect(result).toMatchObject({ exit: 0, stdout: expect.stringContaining('tried\n') });
    expect(result.stdout).not.toContain('reached');
    expect(reached()).toBe('');
  });

  it.runIf(isDeep)('cannot be reached even if it is made while a command runs', async () => {
    const { root, name, reached } = await withServices({ ...FILES, 'later/a': '' }, 'src');
    const running = ok(root, 'bash-readonly', {
      command: `until grep -q ready later/a; do sleep 0.05; done; python3 try.py ${name}2 later`,
    });
    const more = spawn('python3', ['-c', SERVICES, root, `${name}2`, 'later'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void more.kill('SIGKILL'));
    await once(more.stdout, 'data');
    writeFileSync(join(root, 'later/a'), 'ready');
    expect((await running).result.stdout).toMatch(/^(?:Connection refused\n){4}tried\n$/);
    expect(reached()).toBe('');
  });
});

const OWN = `import multiprocessing, socket, sys
def twice(x): return 2 * x
if __name__ == '__main__':
  multiprocessing.set_start_method('forkserver')
  with multiprocessing.Pool(2) as pool: print(pool.map(twice, [1, 2]))
  print(multiprocessing.Manager().list([1]))
  for path in sys.argv[1:]:
    server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    server.bind(path), server.listen(), client.connect(path)
    print(path)`;

describe('the command’s own sockets', () => {
  const TOOLS = [
    ['bash-readonly', { command: 'python3 own.py /tmp/own' }, '[2, 4]\n[1]\n/tmp/own\n'],
    ['bash', { command: 'python3 own.py /tmp/own src/own' }, '[2, 4]\n[1]\n/tmp/own\nsrc/own\n'],
    ['bash-test', {}, '[2, 4]\n[1]\nout/own\n'],
  ] as const;
  it.each(sample(TOOLS, 3))('work for %s', async (tool, args, stdout) => {
    expect((await sandbox()).availability).toMatchObject({ unixSockets: true });
    const root = scratch({ 'own.py': OWN, 'src/a': '', 'out/a': '' });
    const config = { test: [{ run: ['python3', 'own.py', 'out/own'], report: 'none' as const }] };
    expect((await ok(root, tool, args, { config })).result).toMatchObject({ exit: 0, stdout });
  });
});
