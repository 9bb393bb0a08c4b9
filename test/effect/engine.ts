import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getOrInsert } from '../../src/base/get-or-insert.ts';
import type { Denial, WayLeg } from '../../src/gate/denial.ts';
import { openSession } from '../../src/open-session.ts';
import type { ToolBackend, ToolReport } from '../../src/ports/tool-backend.ts';
import type { Session } from '../../src/session/session.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import type { Json, Mode, ProjectConfig, SpecSet } from '../../src/spec/types.ts';

/** A call of the agent model. A test run states its verdict, which the world knows. */
export type Move =
  | { readonly kind: 'step'; readonly tool: string; readonly path?: string; readonly verdict?: 'pass' | 'fail' }
  | { readonly kind: 'hop'; readonly to: string; readonly exit: string | null }
  | { readonly kind: 'mode'; readonly to: string };

/** The engine's answer, with the state of the session afterwards. */
export interface Answer {
  readonly denial: Pick<Denial, 'code' | 'way'> | null;
  readonly next: State;
}

/** The part of a session's state that later decisions about the agent's moves depend on. */
export interface State {
  readonly key: string;
  readonly peripheral: string;
  readonly mode: string | null;
  readonly tools: readonly string[];
  readonly hops: readonly WayLeg[];
  readonly modes: readonly string[];
  /** The moves that lead here from the start. */
  readonly path: readonly Move[];
}

const CONFIG: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  test: [{ run: ['npm', 'test'], report: 'none' }],
  git: { remote: 'origin', branch: 'main' },
};

/**
 * Decides the moves of simulated agents by real sessions. Each pair of a state and a move is decided once, by a session
 * that is led into that state; ten thousand runs then cost as much as a few hundred sessions.
 */
export class Engine {
  readonly #specs: SpecSet;
  /** By the state and the move. To join their texts in each of a million calls would take a tenth of the time. */
  readonly #answers = new Map<string, Map<string, Answer>>();
  readonly #root = mkdtempSync(join(tmpdir(), 'hopgate-effect-'));
  #start: State | null = null;

  constructor(specs: SpecSet) {
    this.#specs = specs;
  }

  async begin(): Promise<State> {
    this.#start ??= await this.#lead([], async (session) => stateOf(session, [], 'none'));
    return this.#start;
  }

  async answer(state: State, move: Move): Promise<Answer> {
    const answers = getOrInsert(this.#answers, state.key, () => new Map<string, Answer>());
    const key = JSON.stringify(move);
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = await this.#lead(state.path, async (session, attempt) => {
      const denial = await attempt(move);
      const path = denial === null ? [...state.path, move] : state.path;
      return { denial, next: denial === null ? stateOf(session, path, testsAfter(path)) : state };
    });
    answers.set(key, answer);
    return answer;
  }

  /** How many decisions were taken by a session. */
  get decisions(): number {
    return this.#answers.values().reduce((sum, { size }) => sum + size, 0);
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  async #lead<T>(
    path: readonly Move[],
    then: (session: Session, attempt: (move: Move) => Promise<Denial | null>) => Promise<T>,
  ): Promise<T> {
    let verdict: 'pass' | 'fail' = 'fail';
    const backend: ToolBackend = {
      name: 'simulated',
      tools: Object.keys(this.#specs.tools),
      run: async ({ tool, args }): Promise<ToolReport> => {
        const file = typeof args['path'] === 'string' ? args['path'] : null;
        const result: { [field: string]: Json } = file === null ? {} : { path: file };
        if (tool.id === 'bash-test') Object.assign(result, { command: ['npm', 'test'], verdict });
        if (tool.id === 'alfworld-action') {
          const won = verdict === 'pass';
          return {
            outcome: { status: 'ok', result },
            effects: [],
            observed: { won, score: won ? 1 : 0, 'world-steps': 1 },
          };
        }
        if (tool.id === 'bash-git') Object.assign(result, { committed: true, sha: '0'.repeat(40) });
        const changes = tool.effect === 'act' && file !== null;
        return { outcome: { status: 'ok', result }, effects: changes ? [{ path: file, op: 'modify' }] : [] };
      },
    };
    const session = await openSession({
      root: this.#root,
      agent: 'model',
      store: 'memory',
      specs: this.#specs,
      config: CONFIG,
      trustConfig: true,
      approver: () => true,
      backends: [backend],
    });
    try {
      const [first] = session.available().hops.filter(({ to }) => (this.#specs.peripherals[to]?.tools.length ?? 0) > 0);
      const started = await session.start(first!.to);
      if (!started.ok) throw new Error(started.denial.message);
      const attempt = (move: Move) => {
        if (move.kind === 'step') verdict = move.verdict ?? verdict;
        return make(session, move);
      };
      for (const move of path) {
        const denial = await attempt(move);
        if (denial !== null) throw new Error(`a path was refused: ${denial.message}`);
      }
      return await then(session, attempt);
    } finally {
      await session.detach();
    }
  }
}

async function make(session: Session, move: Move): Promise<Denial | null> {
  switch (move.kind) {
    case 'step': {
      const made = await session.step({ tool: move.tool, args: argumentsOf(move) });
      return made.ok ? null : made.denial;
    }
    case 'hop': {
      const fruit = session.specs.peripherals[session.state.peripheral ?? '']?.fruit['commit-message'];
      const made = await session.hop({
        to: move.to,
        reason: 'the next act needs it',
        ...(move.exit === null ? {} : { exit: move.exit }),
        fruit: fruit?.kind === 'stated' ? { 'commit-message': 'fix the bug' } : {},
      });
      return made.ok ? null : made.denial;
    }
    default: {
      const made = await session.setMode({ to: move.to as Mode, reason: 'the next act needs it', summary: 'done' });
      return made.ok ? null : made.denial;
    }
  }
}

function argumentsOf({ tool, path = 'src/cart.js' }: Extract<Move, { kind: 'step' }>): { [name: string]: Json } {
  switch (tool) {
    case 'read':
      return { path };
    case 'alfworld-action':
      return { action: 'look' };
    case 'bell':
      return { to: 'joe', text: 'Which one is right?' };
    case 'write':
      return { path, content: 'x' };
    case 'bash-git':
      return { sub: 'commit', args: ['-m', 'fix the bug'] };
    default:
      return {};
  }
}

function testsAfter(path: readonly Move[]): string {
  let tests = 'none';
  let changed = false;
  for (const move of path)
    if (move.kind === 'step') {
      if (move.tool === 'write') [tests, changed] = ['none', true];
      if (move.tool === 'bash-test') tests = move.verdict ?? 'fail';
    }
  return `${tests} ${changed}`;
}

function stateOf(session: Session, path: readonly Move[], tests: string): State {
  const { peripheral, mode } = session.state;
  const { tools, hops, modes } = session.available();
  const { result = null, won = null } = session.state.here?.observed ?? {};
  const here = [result, won];
  return {
    key: [peripheral, mode, tests, JSON.stringify(here), tools.join(), hops.map(({ to }) => to).join()].join(' '),
    peripheral: peripheral ?? '',
    mode,
    tools,
    hops,
    modes: modes.map(({ to }) => to),
    path,
  };
}
