import { spawn } from 'node:child_process';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { detectSandbox } from '../../../src/tools/sandbox/detect.ts';
import { CERTIFICATE, KEY } from '../web/certificate.ts';
import { git, put, repository, resultOf, runner } from './support.ts';

/** git's own HTTP server behind node's. */
async function serveRepositories(folder: string): Promise<number> {
  const server = https.createServer({ cert: CERTIFICATE, key: KEY }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'https://x');
    const env = {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      REMOTE_USER: 'pusher',
    };
    const backend = spawn('git', ['http-backend'], { env });
    request.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on('data', (chunk) => chunks.push(chunk));
    backend.on('close', () => {
      const answer = Buffer.concat(chunks);
      const end = answer.indexOf('\r\n\r\n');
      const headers = answer
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((line) => line.split(': ', 2) as [string, string]);
      response.statusCode = Number(headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
      for (const [name, value] of headers) if (name !== 'Status') response.setHeader(name, value);
      response.end(answer.subarray(end + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test('it pushes over https, in the sandbox, and says that it used the network', async () => {
  const { folder, root, remote } = repository();
  const port = await serveRepositories(folder);
  git(root, 'remote', 'set-url', 'origin', `https://127.0.0.1:${port}/remote.git`);
  git(root, 'config', 'http.sslVerify', 'false'); // the test's certificate names another host
  put(root, 'src/a.txt', 'two\n');
  const run = runner(await detectSandbox(), root);
  resultOf(await run({ sub: 'commit -am second' }));
  const before = git(remote, 'rev-parse', 'main');
  const after = git(root, 'rev-parse', 'HEAD');
  const report = await run({ sub: 'push' });
  expect(resultOf(report)).toMatchObject({ pushed: true, sha: after, network: true });
  expect(report.effects).toEqual([
    { path: '127.0.0.1', op: 'connect' },
    { path: 'refs/heads/main', op: 'ref', before, after },
  ]);
  expect(git(remote, 'rev-parse', 'main')).toBe(after);

  git(root, 'config', 'http.sslVerify', 'true');
  expect(await run({ sub: 'push' })).toMatchObject({
    outcome: { status: 'failed', code: 'remote-unreachable' },
    effects: [{ path: '127.0.0.1', op: 'connect' }],
  });
});
