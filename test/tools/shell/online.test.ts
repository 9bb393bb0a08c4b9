import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import http, { type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CommandAccess } from '../../../src/spec/types.ts';
import { isDeep, sample } from '../../depth.ts';
import { noSshd, serveSsh } from '../git/ssh-server.ts';
import { ok, run, scratch } from './support.ts';

async function listening<T extends Server>(server: T, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A web server of the host that answers with what it was asked. */
async function web(
  answer = (request: IncomingMessage) => `${request.method} ${request.url} of ${request.headers.host}`,
) {
  return listening(http.createServer((request, response) => response.end(answer(request))));
}

const TREE = { 'package.json': '{"name":"shipped","version":"1.0.0"}' };

async function deploy(
  line: string,
  reach: CommandAccess & { readonly network?: boolean },
  files: { [path: string]: string } = TREE,
) {
  const ship = { run: ['bash', '-c', line], network: false, ...reach };
  return ok(scratch(files), 'bash-deploy', { name: 'ship' }, { config: { deploy: { ship } } });
}

test('a deploy command connects to its hosts through the proxy, and each is recorded', async () => {
  const port = await web();
  const { result, effects } = await deploy(`curl -sS http://127.0.0.1:${port}/a?b=c`, { hosts: [`127.0.0.1:${port}`] });
  expect(result.stdout).toBe(`GET /a?b=c of 127.0.0.1:${port}`);
  expect(effects).toEqual([{ path: `127.0.0.1:${port}`, op: 'connect' }]);
  expect(result).not.toHaveProperty('refusedHosts');
});

test.runIf(isDeep)(
  'the result of a failed command names the setting that it lacked: hosts, a variable or an ssh key',
  async () => {
    const offline = await deploy('curl -sS http://127.0.0.1:9/', {});
    expect(offline.result.noNetwork).toContain('deploy.ship.hosts');
    const named = await deploy('curl -sS http://registry.example.com/', {});
    expect(named.result.noNetwork).toContain('deploy.ship.hosts');
    const own = await deploy('curl -sS http://127.0.0.1:9/', { hosts: ['listed.example'] });
    expect(own.result.remedy).toMatch(/^A service of this machine .* 127\.0\.0\.1:PORT/);
    const unset = await deploy('exit 1', { env: { TOKEN: '${TEST_UNSET_TOKEN}' } });
    expect(unset.result.remedy).toContain('TEST_UNSET_TOKEN');
    const keyless = await deploy('echo "Host key verification failed." >&2; exit 255', {});
    expect(keyless.result.remedy).toContain('deploy.ship.ssh');
    expect((await deploy('true', { env: { TOKEN: '${TEST_UNSET_TOKEN}' } })).result).not.toHaveProperty('remedy');
  },
);

test.runIf(isDeep)('a command that keeps requesting a refused host is ended', async () => {
  const agent = 'const agent = new http.Agent({ keepAlive: true });';
  const ask =
    "const ask = () => http.get({ agent, port: 3128, path: 'http://other.example/' }, (r) => r.resume().on('end', ask));";
  const script = `const http = require('http'); ${agent} ${ask} ask();`;
  const { result } = await deploy(`echo started; node -e "${script}"`, { hosts: ['listed.example'] });
  expect(result).toMatchObject({
    exit: null,
    stdout: 'started\n',
    timedOut: false,
    warning: 'hopgate ended the command: it tried to reach a refused host 1000 times.',
    refusedHosts: [{ address: 'other.example:80', why: 'the host is not in the list of allowed hosts' }],
    remedy: expect.stringContaining('deploy.ship.hosts'),
  });
});

test.runIf(isDeep)('a host that does not answer is named with the reason', async () => {
  const { result } = await deploy('curl -sSp http://127.0.0.1:1/', { hosts: ['127.0.0.1:1'] });
  expect(result.remedy).toMatch(/^These hosts did not answer: 127\.0\.0\.1:1: .*ECONNREFUSED/);
});

test.runIf(isDeep)('a tunnel through the proxy carries any protocol', async () => {
  const port = await listening(createServer((socket) => socket.end('hello\n')));
  const { result } = await deploy(`/run/hopgate/tunnel 127.0.0.1 ${port} < /dev/null`, {
    hosts: [`127.0.0.1:${port}`],
  });
  expect(result.stdout).toBe('hello\n');
});

test('a request to an unlisted host is refused and reported with the remedy', async () => {
  const [listed, other] = [await web(), await web()];
  const line = `curl -sS -o /dev/null -w '%{http_code}' --retry 0 http://127.0.0.1:${other}/; curl -sS -p http://127.0.0.1:${other}/`;
  const { result, effects } = await deploy(line, { hosts: [`127.0.0.1:${listed}`] });
  expect(result.stdout).toBe('403');
  expect(result.exit).not.toBe(0);
  expect(result.refusedHosts).toEqual([
    { address: `127.0.0.1:${other}`, tries: 2, why: 'the host is not in the list of allowed hosts' },
  ]);
  expect(result.remedy).toContain('Ask the operator to list the hosts that it needs under deploy.ship.hosts');
  expect(effects).toEqual([]);
  const { result: good } = await deploy(`${line}; true`, { hosts: [`127.0.0.1:${listed}`] });
  expect(good.remedy).toBe(
    `The command succeeded without 127.0.0.1:${other}, which deploy.ship.hosts in hopgate.yaml does not list.`,
  );
});

/**
 * Each line must print nothing of the server's. `$1` is the port of a server that is not listed, `$2` the listed one.
 */
const WAYS_OUT: { readonly [how: string]: string } = {
  'raw TCP to the host': 'exec 3<>/dev/tcp/127.0.0.1/$1 && printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3 && cat <&3',
  'a tunnel to another port': '/run/hopgate/tunnel 127.0.0.1 $1 <<< "GET / HTTP/1.0"',
  'a tunnel to localhost by name': '/run/hopgate/tunnel localhost $2 <<< "GET / HTTP/1.0"',
  'a tunnel to ::1': '/run/hopgate/tunnel ::1 $2 <<< "GET / HTTP/1.0"',
  'a tunnel to a mapped address': '/run/hopgate/tunnel ::ffff:127.0.0.1 $2 <<< "GET / HTTP/1.0"',
  'an address in another notation':
    'curl -sS --max-time 5 http://2130706433:$1/; curl -sS --max-time 5 http://0x7f.1:$1/',
  'another host header': 'curl -sS -H "Host: 127.0.0.1:$1" http://127.0.0.1:$1/',
  'a redirect': 'curl -sSL http://127.0.0.1:$2/redirect',
  'a user name before the host': 'curl -sS "http://127.0.0.1:$2@127.0.0.1:$1/"',
  'two lengths': `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'POST http://127.0.0.1:%s/ HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET http://127.0.0.1:%s/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' $1 $1 >&3; timeout 2 cat <&3`,
  'the origin form': `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET / HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nConnection: close\\r\\n\\r\\n' $1 >&3; timeout 2 cat <&3`,
  'a NUL in the host': `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT 127.0.0.1:%s\\0.x HTTP/1.1\\r\\n\\r\\n' $1 >&3; timeout 2 cat <&3`,
  UDP: 'printf x > /dev/udp/127.0.0.1/$1; printf x > /dev/udp/10.0.0.1/53; cat < /dev/null',
};

test.each(sample(Object.keys(WAYS_OUT), 8))('a deploy command cannot bypass the proxy: %s', async (how) => {
  let [seen, datagrams] = [0, 0];
  const other = await web(() => `reached ${++seen}`);
  const udp = createSocket('udp4').on('message', () => datagrams++);
  await new Promise<void>((resolve) => udp.bind(other, '127.0.0.1', resolve));
  onTestFinished(() => void udp.close());
  const listed = await listening(
    http.createServer((request, response) =>
      request.url === '/redirect'
        ? response.writeHead(302, { location: `http://127.0.0.1:${other}/` }).end()
        : response.end('listed'),
    ),
  );
  const line = `set -- ${other} ${listed}; ${WAYS_OUT[how]}`;
  const { result } = await deploy(line, { hosts: [`127.0.0.1:${listed}`] });
  expect({ seen, datagrams, reached: `${result.stdout}`.includes('reached') }).toEqual({
    seen: 0,
    datagrams: 0,
    reached: false,
  });
});

test('a listed name that resolves to this machine is refused', async () => {
  const port = await web();
  const { result } = await deploy(`NO_PROXY= no_proxy= curl -sS http://localhost:${port}/`, {
    hosts: [`localhost:${port}`],
  });
  expect(result.stdout).not.toContain('GET');
  expect(result.refusedHosts).toEqual([
    {
      address: `localhost:${port}`,
      tries: 1,
      why: expect.stringMatching(/^the name leads to (?:127\.0\.0\.1|::1), which is not a public address$/),
    },
  ]);
});

test.runIf(isDeep)('a listed name with a private address is allowed if the address is listed, too', async () => {
  const port = await web();
  const hosts = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`];
  const { result } = await deploy(`curl -sS http://localhost:${port}/`, { hosts });
  expect(result.stdout).toBe(`GET / of localhost:${port}`);
});

test('a deploy command without hosts in hopgate.yaml gets no proxy', async () => {
  const { result } = await deploy('(: < /dev/tcp/127.0.0.1/3128) 2>&1; env | grep -i proxy; true', {});
  expect(result.stdout).toMatch(/refused/i);
  expect(result.stdout).not.toContain('PROXY=');
});

test('a deploy command writes to an overlay that is discarded', async () => {
  const { result } = await deploy('mkdir dist && echo built > dist/out && cat dist/out && rm package.json && ls', {});
  expect(result).toMatchObject({ exit: 0, stdout: 'built\ndist\n' });
});

const TOKEN = 'npm_S3cret+Token/With=Odd Chars';

test('a secret is given to the command and masked in every encoding', async () => {
  const shown = [
    'echo "$TOKEN"',
    'printf "%s" "$TOKEN" | base64 -w0; echo',
    'printf "user:%s" "$TOKEN" | base64 -w0; echo',
    'printf "us:%s\\n" "$TOKEN" | base64 -w0; echo',
    'printf "%s" "$TOKEN" | base64 -w0 | tr +/ -_; echo',
    'printf "%s" "$TOKEN" | od -An -tx1 | tr -d " \\n"; echo',
    'echo "$TOKEN" >&2',
    String.raw`echo "$TOKEN" | sed 's,/,\\/,g'`,
    '[ "$TOKEN" = "$(cat expected)" ] && echo same',
  ];
  process.env['TEST_DEPLOY_TOKEN'] = TOKEN;
  onTestFinished(() => void delete process.env['TEST_DEPLOY_TOKEN']);
  const report = await deploy(shown.join('\n'), { env: { TOKEN: '${TEST_DEPLOY_TOKEN}' } }, { expected: `${TOKEN}\n` });
  expect(report.result.stdout).toContain('same');
  const text = JSON.stringify(report);
  expect(text).toContain('${TEST_DEPLOY_TOKEN}');
  expect(report.result.stdout).not.toContain(TOKEN.replaceAll('/', '\\/'));
  for (const form of [TOKEN, Buffer.from(TOKEN).toString('base64').slice(4, -4), Buffer.from(TOKEN).toString('hex')])
    expect(text).not.toContain(form);
  expect(text).not.toContain(Buffer.from(`user:${TOKEN}`).toString('base64').slice(12, 24));
});

test('a secret in a host name is not recorded', async () => {
  const port = await web();
  process.env['TEST_DEPLOY_TOKEN'] = 'Abcdefgh12345';
  onTestFinished(() => void delete process.env['TEST_DEPLOY_TOKEN']);
  const reach = { hosts: [`127.0.0.1:${port}`], env: { TOKEN: '${TEST_DEPLOY_TOKEN}' } };
  const report = await deploy('curl -sS http://$TOKEN.example.com/ > /dev/null', reach);
  expect(JSON.stringify(report).toLowerCase()).not.toContain('abcdefgh12345');
  expect(report.result.refusedHosts).toHaveLength(1);
});

test.runIf(isDeep)('a secret can come from a program of the operator', async () => {
  const folder = scratch();
  const program = join(folder, 'print-token');
  writeFileSync(program, '#!/bin/sh\necho "token of $1"\n');
  chmodSync(program, 0o755);
  const report = await deploy('[ "$TOKEN" = "token of npm" ] && echo "$TOKEN"', {
    secrets: { TOKEN: [program, 'npm'] },
  });
  expect(report.result.stdout).toBe('${TOKEN}\n');
});

test('a deploy does not run if the program for a secret fails', async () => {
  const failing = deploy('echo ran', { secrets: { TOKEN: ['false'] } });
  await expect(failing).rejects.toThrow(/deploy\.ship\.secrets\.TOKEN: false failed; ask the operator/);
});

describe.skipIf(noSshd !== null)('a deploy over ssh', () => {
  const files = { 'site/index.html': '<h1>Hello</h1>\n', 'site/a.txt': 'a\n' };
  const WAYS = [
    ['scp', 'scp -q -r -P PORT site USER@localhost:TARGET/'],
    ['sftp', 'printf "put -r site TARGET/site\\n" | sftp -q -b - -P PORT USER@localhost'],
    ['tar and ssh', 'tar c site | ssh -p PORT USER@localhost tar x -C TARGET'],
    ...(existsSync('/usr/bin/rsync') ? [['rsync', 'rsync -a -e "ssh -p PORT" site USER@localhost:TARGET/']] : []),
  ];
  test.each(sample(WAYS, 4))('by %s copies files to a listed host with the configured key', async (_, line) => {
    const target = scratch();
    const { origin, key, knownHosts } = await serveSsh(scratch());
    const { port, username } = new URL(origin);
    const filled = line!.replaceAll('PORT', port).replaceAll('USER', username).replaceAll('TARGET', target);
    const reach = { hosts: [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`], ssh: { key, knownHosts } };
    const report = await deploy(`${filled}; code=$?; cat ${key}; exit $code`, reach, files);
    expect(report.result).toMatchObject({ exit: 0, stderr: '' });
    expect(readFileSync(join(target, 'site/index.html'), 'utf8')).toBe(files['site/index.html']);
    expect(report.effects).toEqual([{ path: `localhost:${port}`, op: 'connect' }]);
    for (const part of readFileSync(key, 'utf8').split('\n').slice(1, -2))
      expect(JSON.stringify(report)).not.toContain(part);
  });

  test.runIf(isDeep)('to an unlisted host is refused', async () => {
    const { origin, key, knownHosts } = await serveSsh(scratch());
    const { port, username } = new URL(origin);
    const reach = { hosts: ['elsewhere.example:22'], ssh: { key, knownHosts } };
    const { result } = await deploy(`ssh -p ${port} ${username}@localhost true`, reach);
    expect(result.exit).toBe(255);
    expect(result.stderr).toContain(`hopgate refuses localhost:${port}: the host is not in the list of allowed hosts.`);
    expect(result.refusedHosts).toHaveLength(1);
  });

  test('with a key in the repository is refused', async () => {
    const root = scratch({ key: 'x', known: 'x' });
    const ship = { run: ['true'], network: false, ssh: { key: join(root, 'key'), knownHosts: join(root, 'known') } };
    const { outcome } = await run(root, 'bash-deploy', { name: 'ship' }, { config: { deploy: { ship } } });
    expect(outcome).toMatchObject({ status: 'failed', code: 'credential-in-reach' });
  });
});
