// Measures the live view in Chromium: how long until the first paint and the first row, with a short and a long
// session; and how long a durable entry takes to the document, with one session and with fifty that work at once.
//   node test/bench/live-view.ts [--entries 50000] [--sessions 50] [--json]
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { ensureStateDir } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { exploringAt } from './gated-steps.ts';

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '50000' },
    sessions: { type: 'string', default: '50' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean' },
    // For the child process: steps of each session in the repository, `pause` milliseconds apart; 0: none.
    write: { type: 'string' },
    steps: { type: 'string', default: '0' },
    pause: { type: 'string', default: '0' },
  },
});

const median = (all: readonly number[]): number => quantile(all, 0.5);
const quantile = (all: readonly number[], part: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))] ?? Number.NaN;

/** Steps in new sessions and prints when each entry became durable: one line `SESSION NUMBER EPOCH-MS` for each. */
async function write(root: string, sessions: number, steps: number, pause: number): Promise<void> {
  const store = sqliteStore(join(ensureStateDir(root, process.env), 'evidence.db'));
  const all = [];
  for (let index = 0; index < sessions; index++) all.push(await exploringAt(store, root));
  console.log(JSON.stringify(all.map(({ id }) => id)));
  if (pause > 0) await new Promise((resolve) => process.stdin.once('data', resolve));
  const lines: string[] = [];
  await Promise.all(
    all.map(async (session, index) => {
      await sleep((pause * index) / sessions);
      for (let step = 0, due = Date.now(); step < steps; step++) {
        const stepped = await session.step({ tool: 'read', args: { path: `src/n${step}.ts` } });
        if (!stepped.ok) throw new Error(stepped.denial.message);
        if (pause >= 1) lines.push(`${session.id} ${step} ${Date.now()}`);
        due += pause;
        if (pause >= 1) await sleep(Math.max(0, due - Date.now()));
      }
    }),
  );
  await new Promise((resolve) => process.stdout.write(`${lines.join('\n')}\n`, resolve));
  // The leases stay, so the sessions are open like those of a running agent.
  process.exit(0);
}

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hopgate-bench-'));

interface Home {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

function home(name: string): Home {
  const root = join(folder, name, 'repo');
  mkdirSync(root, { recursive: true });
  return { root, env: { ...process.env, HOME: join(folder, name), XDG_STATE_HOME: join(folder, name, 'state') } };
}

/** Starts the writer. `begin` lets it step; `done` has its lines. */
async function writer({ root, env }: Home, options: { sessions: number; steps: number; pause: number }) {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(process.execPath, [import.meta.filename, '--write', root, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const done = new Promise<string>((resolve) => child.once('close', () => resolve(text)));
  while (!text.includes('\n') && child.exitCode === null) await sleep(20);
  const ids = JSON.parse(text.split('\n')[0]!) as readonly string[];
  return { ids, done, begin: () => child.stdin.end('go') };
}

async function served<T>({ env }: Home, use: (server: Server) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  while (!text.trimEnd().endsWith('}')) await sleep(20);
  const { address, tokens } = JSON.parse(text);
  const headers = { Authorization: `Bearer ${readFileSync(tokens.operator, 'utf8').trim()}` };
  const code = async () =>
    ((await (await fetch(`${address}/v1/login/code`, { method: 'POST', headers })).json()) as { code: string }).code;
  const status = () => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  try {
    // The time of a process is counted in ticks of 10 ms.
    return await use({
      address,
      code,
      operator: headers.Authorization,
      cpuMs: () => (Number(status()[11]) + Number(status()[12])) * 10,
      megabytes: () => (Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]) * 4096) / 2 ** 20,
    });
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('close', resolve));
  }
}
interface Server {
  readonly address: string;
  readonly code: () => Promise<string>;
  /** The header of the operator. */
  readonly operator: string;
  readonly cpuMs: () => number;
  readonly megabytes: () => number;
}

/** Records when the row of each step came into the document. */
const WATCH = `window.came = {}; (function look() {
  const rows = document.querySelector('hopgate-view')?.shadowRoot?.querySelector('.rows');
  if (!rows) return setTimeout(look, 5);
  const note = () => { for (const row of rows.querySelectorAll('.row .action')) { const n = /src\\/n(\\d+)\\.ts/.exec(row.textContent)?.[1]; if (n) window.came[n] ??= Date.now(); } };
  new MutationObserver(note).observe(rows, { childList: true, subtree: true, characterData: true });
})()`;

async function visit(browser: Browser, server: Server, session: string): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.addInitScript(
    `new PerformanceObserver((list) => { for (const { startTime, duration } of list.getEntries()) if (startTime > (window.firstRow ?? Infinity)) window.longest = Math.max(window.longest ?? 0, duration); }).observe({ type: 'longtask' }); (function look() { document.querySelector('hopgate-view')?.shadowRoot?.querySelector('.row') ? window.firstRow ??= performance.now() : setTimeout(look, 2); })()`,
  );
  await page.goto(`${server.address}/#code=${await server.code()}&session=${encodeURIComponent(session)}`);
  return page;
}

/** Waits for an expression. The page's policy forbids what `waitForFunction` does. */
async function until(page: Page, expression: string): Promise<void> {
  while (!(await page.evaluate(`Boolean(${expression})`))) await sleep(10);
}

const paintOf = (page: Page) =>
  page.evaluate<number | null>(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null`);

/** Milliseconds from the navigation to the first paint and to the first row, on a new server; medians. */
async function opening(browser: Browser, at: Home, session: string, rounds: number) {
  const found: { paint: number; row: number; blank: number; task: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    await served(at, async (server) => {
      const blank = await (await browser.newContext()).newPage();
      await blank.goto(`${server.address}/v1/health`);
      await until(blank, `performance.getEntriesByName('first-contentful-paint').length`);
      const page = await visit(browser, server, session);
      await until(page, 'window.firstRow');
      await until(page, `performance.getEntriesByName('first-contentful-paint').length`);
      while (/loading/.test((await page.locator('.timeline output').textContent()) ?? '')) await sleep(20);
      await sleep(300);
      found.push({
        task: await page.evaluate<number>('window.longest ?? 0'),
        blank: (await paintOf(blank))!,
        paint: (await paintOf(page))!,
        row: await page.evaluate<number>('window.firstRow'),
      });
      await page.context().close();
      await blank.context().close();
    });
  }
  const of = (key: 'paint' | 'row' | 'blank' | 'task') => Math.round(median(found.map((each) => each[key])));
  return { blankPage: of('blank'), firstPaint: of('paint'), firstRow: of('row'), longestTask: of('task') };
}

/** Milliseconds from the durable entry to the document, and the part of a core that the server used. */
async function latency(browser: Browser, at: Home, sessions: number) {
  const steps = 200;
  return served(at, async (server) => {
    const writing = await writer(at, { sessions, steps, pause: 50 });
    const [shown = ''] = writing.ids;
    const page = await visit(browser, server, shown);
    await until(page, 'window.firstRow');
    await page.evaluate(WATCH);
    await sleep(500);
    const [cpu, began] = [server.cpuMs(), Date.now()];
    writing.begin();
    const lines = (await writing.done).trim().split('\n').slice(1);
    const [used, took] = [server.cpuMs() - cpu, Date.now() - began];
    await sleep(1_000);
    const came = await page.evaluate<{ readonly [step: string]: number }>('window.came');
    const own = lines.map((line) => line.split(' ')).filter(([id]) => id === shown);
    const late = own.flatMap(([, step, durable]) => (came[step!] ? [came[step!]! - Number(durable)] : []));
    await page.context().close();
    return {
      sessions,
      entriesPerSecond: Math.round((sessions * steps) / (took / 1000)),
      seen: `${late.length}/${steps}`,
      p50: median(late),
      p95: quantile(late, 0.95),
      coreOfServer: Number((used / took).toFixed(2)),
    };
  });
}

/** Megabytes that the server grows by, while a reader of its stream stopped and another process adds entries. */
async function stoppedReader(at: Home, entries: number) {
  return served(at, async (server) => {
    const writing = await writer(at, { sessions: 1, steps: entries, pause: 0.000_001 });
    const { hostname, port } = new URL(server.address);
    const socket = createConnection({ host: hostname, port: Number(port) });
    socket.pause();
    socket.write(
      `GET /v1/sessions/${writing.ids[0]}/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: ${server.operator}\r\n\r\n`,
    );
    await sleep(1_000);
    const before = server.megabytes();
    writing.begin();
    let most = before;
    const timer = setInterval(() => {
      most = Math.max(most, server.megabytes());
    }, 50);
    await writing.done;
    await sleep(1_000);
    clearInterval(timer);
    socket.destroy();
    return {
      entries,
      grewMegabytes: Math.round(server.megabytes() - before),
      mostMegabytes: Math.round(most - before),
    };
  });
}

type Row = readonly [what: string, value: number, atMost: number, more: string];

async function main(): Promise<void> {
  const browser = await chromium.launch({
    executablePath: ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))!,
    args: ['--no-sandbox'],
  });
  try {
    const [short, long] = [home('short'), home('long')];
    const entries = Number(values.entries);
    const made = async (at: Home, steps: number) => {
      const { ids, done } = await writer(at, { sessions: 1, steps, pause: 0 });
      await done;
      return ids[0]!;
    };
    const rounds = Number(values.rounds);
    const first = await opening(browser, short, await made(short, 50), rounds);
    const last = await opening(browser, long, await made(long, entries), rounds);
    const one = await latency(browser, home('one'), 1);
    const many = await latency(browser, home('many'), Number(values.sessions));
    const stopped = await stoppedReader(home('stopped'), entries * 2);
    const rows: readonly Row[] = [
      ['first paint, ms', first.firstPaint, 300, `an empty answer of the server: ${first.blankPage}`],
      ['first row of 50 entries, ms', first.firstRow, 500, ''],
      [`first row of ${entries} entries, ms`, last.firstRow, 500, `longest task later: ${last.longestTask}`],
      ['durable entry to document, p95 ms', one.p95, 100, `p50 ${one.p50}, ${one.seen} seen`],
      [
        `the same, ${many.sessions} sessions, p95 ms`,
        many.p95,
        100,
        `${many.entriesPerSecond} entries a second, ${many.seen} seen`,
      ],
      ['cores of the server meanwhile', many.coreOfServer, 1, ''],
      [`stopped reader, ${stopped.entries} entries, MB`, stopped.mostMegabytes, 20, ''],
    ];
    if (values.json)
      console.log(
        JSON.stringify(
          rows.map(([what, value, atMost]) => ({ what, value, atMost })),
          null,
          2,
        ),
      );
    else
      for (const [what, value, atMost, more] of rows)
        console.log(`${what.padEnd(40)} ${String(value).padStart(6)}  at most ${atMost}  ${more}`);
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (values.write === undefined) await main();
else await write(values.write, Number(values.sessions), Number(values.steps), Number(values.pause));
