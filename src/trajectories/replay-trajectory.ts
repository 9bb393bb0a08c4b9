import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Denial } from '../gate/denial.ts';
import { openSession } from '../open-session.ts';
import type { ToolBackend, ToolReport } from '../ports/tool-backend.ts';
import type { Session } from '../session/session.ts';
import { chooseFirstPeripheral } from '../spec/first-peripheral.ts';
import { DEFAULT_PROJECT_CONFIG } from '../spec/resolve/parse-project-config.ts';
import type { Json, ProjectConfig, SpecSet } from '../spec/types.ts';
import { actToCalls, fileOpenedByAct, type ReplacementCall } from './act-to-calls.ts';
import type { ForeignAct, Trajectory } from './read-trajectory.ts';

/** An act that every peripheral within the session's reach would have refused. */
interface RefusedAct {
  /** The position of the act in the trajectory, from 0. */
  readonly act: number;
  /** The request as text: `write /etc/hosts`, `submit`. */
  readonly request: string;
  readonly code: string;
  readonly why: string;
}

/** A run of another program's agent, judged as if it had been a session. */
export interface ReplayedTrajectory extends Pick<Trajectory, 'id' | 'format' | 'submitted'> {
  readonly acts: number;
  /** The number of calls of hopgate's tools that replace the acts. */
  readonly calls: number;
  /** The number of hops and starts, and of mode changes, that the calls need. */
  readonly moves: { readonly hops: number; readonly modes: number };
  readonly refused: readonly RefusedAct[];
  /** True if the run solved its task; null if the caller does not know. */
  readonly resolved: boolean | null;
}

/** The maximum number of hops, starts and mode changes before one call. */
const MAX_LEGS = 12;
const COMMIT_MESSAGE = 'submitted';

/** The configuration of a replayed run: all of its folder may be edited, and every kind of command is configured. */
export const REPLAY_CONFIG: ProjectConfig = {
  ...DEFAULT_PROJECT_CONFIG,
  scopes: { edit: ['.'] },
  test: [{ run: ['test'], report: 'none' }],
  install: [{ run: ['install'], scripts: true, approval: false }],
  git: { remote: 'origin', branch: 'main' },
};

/**
 * Replays another program's run in a session. Each act becomes calls of hopgate's tools, and the hops that they need
 * come before them. The gate decides. Nothing runs: the tools return the recorded results. Everything is approved, so
 * every refusal comes from the specs.
 */
export async function replayTrajectory(
  trajectory: Trajectory,
  specs: SpecSet,
  { config = REPLAY_CONFIG, resolved = null }: { config?: ProjectConfig; resolved?: boolean | null } = {},
): Promise<ReplayedTrajectory> {
  const folder = trajectory.folder ?? commonFolder(trajectory.acts);
  const root = mkdtempSync(join(tmpdir(), 'hopgate-trajectory-'));
  let current: ForeignAct | null = null;
  const session = await openSession({
    root,
    agent: 'foreign',
    store: 'memory',
    specs,
    config,
    trustConfig: true,
    approver: () => true,
    backends: [recordedBackend(Object.keys(specs.tools), () => current)],
  });
  const moves = { hops: 0, modes: 0 };
  const refused: RefusedAct[] = [];
  let calls = 0;
  let open: string | null = null;
  let changed = false;
  try {
    for (const [at, act] of trajectory.acts.entries()) {
      current = act;
      const meaning = actToCalls(act, folder, open);
      open = fileOpenedByAct(act) ?? open;
      const isSubmit = meaning.kind === 'submit';
      // A run without changes has nothing to ship.
      const all: readonly ReplacementCall[] = isSubmit ? (changed ? [SUBMIT] : []) : meaning.calls;
      for (const call of all) {
        calls += 1;
        const denial = await callAfterMoves(session, call, moves);
        if (denial === null) changed ||= call.tool === 'write';
        else
          refused.push({
            act: at,
            request: isSubmit ? 'submit' : describeCall(call),
            code: denial.code,
            why: denial.message,
          });
      }
    }
  } finally {
    await session.detach();
    rmSync(root, { recursive: true, force: true });
  }
  const { id, format, submitted } = trajectory;
  return { id, format, acts: trajectory.acts.length, calls, moves, refused, submitted, resolved };
}

const SUBMIT: ReplacementCall = { tool: 'bash-git', args: { sub: 'commit', args: ['-m', COMMIT_MESSAGE] } };

/** Makes a call after the moves that it needs. Returns the last denial; null if the call was made. */
async function callAfterMoves(
  session: Session,
  call: ReplacementCall,
  moves: { hops: number; modes: number },
): Promise<Denial | null> {
  for (let leg = 0; leg < MAX_LEGS; leg++) {
    const step = await session.step(withShellOfPeripheral(session, call));
    if (step.ok) return null;
    const { denial } = step;
    const way = denial.way ?? [];
    // A path that leaves this peripheral and comes back asks for an act elsewhere, such as a change of the code. The
    // run did not make that act, so the last leg from here is tried at once. Its refusal names the missing requirement.
    const next = way.findLast(({ from }) => from !== null && from === session.state.peripheral) ?? way[0];
    if (denial.code === 'mode-forbids') {
      const failed = await changeMode(session, call, moves);
      if (failed !== null) return failed;
    } else if (denial.code === 'no-peripheral') {
      const started = await session.start(entrancePeripheral(session));
      if (!started.ok) return started.denial;
      moves.hops += 1;
    } else if (next === undefined) return denial;
    else {
      const hop = await takeLeg(session, next.to, next.exit);
      if (hop !== null) return hop;
      moves.hops += 1;
    }
  }
  return session.why(call);
}

/** Returns the call with the tool `bash` instead of `bash-readonly`, if the present peripheral has `bash`. */
function withShellOfPeripheral({ specs, state }: Session, call: ReplacementCall): ReplacementCall {
  const tools = specs.peripherals[state.peripheral ?? '']?.tools ?? [];
  return call.tool === 'bash-readonly' && tools.includes('bash') ? { ...call, tool: 'bash' } : call;
}

const entrancePeripheral = (session: Session): string =>
  chooseFirstPeripheral(session.specs) ?? session.available().hops[0]?.to ?? '';

/** Hops, with a commit message if the fruit needs one. Returns the denial; null if it hopped. */
async function takeLeg(session: Session, to: string, exit: string | null): Promise<Denial | null> {
  const here = session.specs.peripherals[session.state.peripheral ?? ''];
  const fruit: { [field: string]: Json } =
    here?.fruit['commit-message'] === undefined ? {} : { 'commit-message': COMMIT_MESSAGE };
  const hop = await session.hop({ to, reason: 'the next act needs it', ...(exit === null ? {} : { exit }), fruit });
  return hop.ok ? null : hop.denial;
}

/** Changes the mode until it allows the tool. Returns the denial if no mode allows it, else null. */
async function changeMode(session: Session, call: ReplacementCall, moves: { modes: number }): Promise<Denial | null> {
  const tried = new Set<string>();
  for (;;) {
    const denial = session.why(call);
    if (denial?.code !== 'mode-forbids') return null;
    const to = session
      .available()
      .modes.map((mode) => mode.to)
      .find((mode) => !tried.has(mode));
    if (to === undefined) return denial;
    tried.add(to);
    const changed = await session.setMode({ to, summary: 'done', reason: 'the next act needs it' });
    if (!changed.ok) return changed.denial;
    moves.modes += 1;
  }
}

/** A backend whose tools return the recorded result of the present act. */
const recordedBackend = (tools: readonly string[], current: () => ForeignAct | null): ToolBackend => ({
  name: 'recorded',
  tools,
  run: async ({ tool, args }): Promise<ToolReport> => {
    const act = current();
    const path = args['path'];
    const result: { [field: string]: Json } = typeof path === 'string' ? { path } : {};
    if (tool.id === 'bash-test') Object.assign(result, { command: ['test'], verdict: testVerdictOf(act) });
    if (tool.id === 'bash-git') Object.assign(result, { committed: true, sha: '0'.repeat(40) });
    return {
      outcome: { status: 'ok', result },
      effects: tool.effect === 'act' && typeof path === 'string' ? [{ path, op: 'modify' }] : [],
    };
  },
});

/** The verdict of a test run. A run without an exit status counts as passed unless its output shows a failure. */
function testVerdictOf(act: ForeignAct | null): 'pass' | 'fail' {
  if (act === null) return 'fail';
  const hasFailure = /\b(?!0 )\d+ (?:failed|errors?|failing)\b|^(?:FAILED|ERROR)\b|Traceback|command not found/m.test(
    act.output,
  );
  return hasFailure || (act.exit ?? 0) !== 0 ? 'fail' : 'pass';
}

/** The folder that contains most absolute paths of the acts: `/testbed`, `/app`, … */
function commonFolder(acts: readonly ForeignAct[]): string {
  const count = new Map<string, number>();
  for (const { input } of acts)
    for (const [found] of JSON.stringify(input).matchAll(
      /\/(?:testbed|app|repo|workspace\/[\w.-]+|home\/[\w.-]+\/[\w.-]+)\b/g,
    ))
      count.set(found, (count.get(found) ?? 0) + 1);
  const [most] = [...count].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? '/testbed';
}

const describeCall = ({ tool, args }: ReplacementCall): string =>
  [tool, ...Object.values(args).filter((one) => one !== '')].join(' ');
