import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { toBody } from '../../src/evidence/bodies.ts';
import { evidenceFile } from '../../src/project/state-dir.ts';
import { sqliteStore } from '../../src/stores/sqlite.ts';
import { nameServer, SERVER } from '../server-name.ts';
import { leaveNothing } from './leave-nothing.ts';
import { type Model, type Result, type Seen, type Step, scriptedModel } from './messages-server.ts';

/** The real program, if the environment names it. */
export const CLAUDE_BIN = process.env['CLAUDE_BIN'];
if (!CLAUDE_BIN)
  console.log('The real Claude Code is not run: name it by CLAUDE_BIN (npm i @anthropic-ai/claude-code).');

const HOPGATE = [process.execPath, resolve('src/cli/main.ts')];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The result of a run of the client. */
export interface Run extends Ended {
  readonly requests: readonly Seen[];
  /** Every tool result that the model saw, in order. */
  readonly results: readonly Result[];
  readonly session: string;
  /** When the client was started, in milliseconds of the monotonic clock. */
  readonly startedAt: number;
}

export interface RunOptions {
  /** hopgate's own options. */
  readonly own?: readonly string[];
  /** Claude Code's own arguments, after ours. */
  readonly args?: readonly string[];
  readonly prompt?: string;
  readonly env?: { readonly [name: string]: string };
  /** `claude` started without hopgate. */
  readonly bare?: boolean;
  /** The folder, relative to the root, that the client is started in. hopgate then gets no `--root`. */
  readonly folder?: string;
  readonly permissionMode?: string;
  /** hopgate's command line; default: its source. */
  readonly cli?: string;
}

/**
 * A home, a repository, a state folder, and Claude Code in it, whose model is a script and whose way out of this
 * machine is closed.
 */
export class ClaudeWorld {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'hopgate-cc-')));
  readonly home = join(this.folder, 'home');
  readonly root: string;
  readonly env: { readonly [name: string]: string };

  /** @param repository the files of a new one, or the root of one that is there */
  constructor(
    repository: { readonly [path: string]: string } | string = { 'src/a.js': 'one\n', 'README.md': 'read me\n' },
  ) {
    this.root = typeof repository === 'string' ? repository : join(this.folder, 'repo');
    const closed = 'http://127.0.0.1:9';
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.home,
      TMPDIR: join(this.folder, 'tmp'),
      XDG_STATE_HOME: join(this.folder, 'state'),
      XDG_RUNTIME_DIR: join(this.folder, 'run'),
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      HTTP_PROXY: closed,
      HTTPS_PROXY: closed,
      NO_PROXY: '127.0.0.1,localhost',
      ANTHROPIC_API_KEY: 'a-dummy-for-the-loopback-interface',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
    };
    for (const folder of [this.home, this.root, join(this.folder, 'tmp'), join(this.folder, 'run')])
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    nameServer(join(this.folder, 'state'));
    if (typeof repository !== 'string') {
      for (const [path, text] of Object.entries(repository)) this.write(path, text);
      this.git('init', '-q', '-b', 'main');
      this.git('add', '-A');
      this.git('commit', '-q', '-m', 'first');
    }
    // First-run questions answered.
    const trusted = { hasTrustDialogAccepted: true };
    const projects = { [this.root]: trusted, [join(this.root, 'src')]: trusted };
    writeFileSync(join(this.home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true, projects }));
  }

  git(...args: readonly string[]): string {
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@localhost'];
    return execFileSync('git', ['-C', this.root, ...who, ...args], { encoding: 'utf8' });
  }

  path = (name: string): string => join(this.root, name);

  write(path: string, text: string): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
  }

  /** A file of the repository; null if it is not there. */
  read(path: string): string | null {
    return existsSync(this.path(path)) ? readFileSync(this.path(path), 'utf8') : null;
  }

  /** Starts Claude Code through hopgate, and lets the script play the model. */
  async run(
    scripts: readonly Step[] | { readonly [thread: string]: readonly Step[] },
    options: RunOptions = {},
  ): Promise<Run> {
    const model: Model = await scriptedModel(Array.isArray(scripts) ? { main: scripts } : (scripts as never));
    const { own = [], args = [], prompt = 'begin', env = {}, permissionMode = 'bypassPermissions', folder } = options;
    const client = [
      '-p',
      prompt,
      '--output-format',
      'stream-json',
      '--verbose',
      '--permission-mode',
      permissionMode,
      ...args,
    ];
    const root = folder === undefined ? ['--root', this.root] : [];
    const command = options.bare
      ? [CLAUDE_BIN ?? '', ...client]
      : [
          ...(options.cli ? [process.execPath, options.cli] : HOPGATE),
          'claude',
          ...root,
          '--claude',
          CLAUDE_BIN ?? '',
          ...own,
          ...client,
        ];
    const startedAt = performance.now();
    try {
      const ended = await runToEnd(command, this.path(folder ?? ''), {
        ...this.env,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}`,
        ...env,
      });
      const results = model.requests.flatMap(({ results }) => results);
      const session = /session (s-[\w-]+) in/.exec(ended.stderr)?.[1] ?? '';
      return { ...ended, requests: model.requests, results, session, startedAt };
    } finally {
      await model.close();
    }
  }

  hopgate(...args: readonly string[]): Promise<Ended> {
    return runToEnd([...HOPGATE, ...args], this.root, this.env);
  }

  /** The events of a session's evidence, each with its distinguishing field. */
  async evidence(session: string): Promise<readonly string[]> {
    const store = sqliteStore(evidenceFile(this.root, this.env));
    try {
      const events: string[] = [];
      for await (const { entry } of store.entries(session)) {
        const body = toBody(entry.body);
        if (body?.event === 'denial') events.push(`denial ${body.code}`);
        else if (body?.event === 'step' || body?.event === 'outcome') {
          const effects =
            body.effects === 'unobserved' ? ['unobserved'] : body.effects.map(({ op, path }) => `${op} ${path}`);
          events.push([`${body.event} ${body.tool} ${body.outcome.status}`, ...effects].join(', '));
        } else if (body?.event === 'intent' || body?.event === 'interrupted') events.push(`${body.event} ${body.tool}`);
        else events.push(body?.event ?? '?');
      }
      return events;
    } finally {
      await store.close();
    }
  }

  /** Ids of the sessions of this repository. */
  async sessions(): Promise<readonly string[]> {
    const store = sqliteStore(evidenceFile(this.root, this.env));
    try {
      return (await store.sessions()).map(({ sessionId }) => sessionId);
    } finally {
      await store.close();
    }
  }

  async close(): Promise<void> {
    await this.hopgate('daemon', 'stop');
    await leaveNothing(this.folder);
  }
}

/** Runs a program to its end; what lives longer than 90 s is ended, with what it started. */
export function runToEnd(
  [program = '', ...args]: readonly string[],
  cwd: string,
  env: { readonly [name: string]: string },
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), 90_000);
  return new Promise((done, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      done({ code, stdout, stderr });
    });
  });
}

export const own = (tool: string): string => `mcp__plugin_hopgate_${SERVER}__${tool}`;

/** A turn of one call. */
export const call = (name: string, input: object): Step => ({ calls: [{ name, input }] });
