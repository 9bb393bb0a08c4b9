import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fieldsOf } from '../../../base/json.ts';
import { escapeInvisible, excerpt, plural } from '../../../base/text.ts';
import { loadProjectConfig } from '../../../spec/load/load-project-config.ts';
import { loadSpecs } from '../../../spec/load/load-specs.ts';
import { readTrajectory } from '../../../trajectories/read-trajectory.ts';
import { type ReplayedTrajectory, replayTrajectory } from '../../../trajectories/replay-trajectory.ts';
import { resolveSpecsOption } from '../../choose-specs.ts';
import { CliError, type Io, print, printJson } from '../../io.ts';
import { printTable } from '../../table.ts';

export interface TrajectoryOptions {
  readonly trajectories: string;
  readonly specs?: string;
  readonly config?: string;
  readonly results?: string;
}

/** Finds the calls in runs of other agents that the specs would have refused (`hopgate replay --trajectories`). */
export async function replayTrajectories(io: Io, options: TrajectoryOptions): Promise<void> {
  const folder = resolve(io.cwd, options.trajectories);
  const specs = await loadSpecs(resolveSpecsOption(io, options.specs ?? 'default'));
  const config =
    options.config === undefined ? undefined : (await loadProjectConfig(resolve(io.cwd, options.config))).config;
  const results = options.results === undefined ? {} : readResults(resolve(io.cwd, options.results));
  const runs: ReplayedTrajectory[] = [];
  const unread: { readonly file: string; readonly why: string }[] = [];
  for (const file of globSync('**/*.{traj,json}', { cwd: folder }).sort()) {
    const id = file.replace(/(?:\/trajectory)?(?:\.traj)?(?:\.json)?$/, '').replace(/\.traj$/, '');
    const read = parse(join(folder, file));
    const trajectory = 'why' in read ? null : readTrajectory(id, read.value);
    if (trajectory === null) {
      // A folder of results may also contain other JSON files.
      if (file.endsWith('.traj') || 'why' in read)
        unread.push({ file, why: 'why' in read ? read.why : 'unknown form' });
      continue;
    }
    const resolved = results[id] ?? results[id.split('/').at(-1)!] ?? null;
    runs.push(await replayTrajectory(trajectory, specs, { ...(config ? { config } : {}), resolved }));
  }
  if (runs.length === 0)
    throw new CliError(
      'no-trajectories',
      `no trajectory can be read in ${folder}${unread[0] ? ` (${unread[0].file}: ${unread[0].why})` : ''}`,
      'It must hold files of SWE-agent (.traj), mini-swe-agent (.traj.json) or ATIF (trajectory.json).',
    );
  if (io.json) return printJson(io, { specs: specs.hash, runs, unread });
  for (const run of runs) show(io, run);
  print(io, '');
  summarise(io, runs);
  for (const { file, why } of unread) print(io, `not read: ${escapeInvisible(file)} (${why})`);
}

function parse(file: string): { readonly value: unknown } | { readonly why: string } {
  try {
    return { value: JSON.parse(readFileSync(file, 'utf8')) };
  } catch (error) {
    return { why: (error as Error).message };
  }
}

/** Solved tasks by run, from a SWE-bench report (`resolved_ids`, `unresolved_ids`) or an object of booleans. */
function readResults(file: string): { readonly [id: string]: boolean } {
  const read = parse(file);
  if ('why' in read) throw new CliError('bad-results', `${file} cannot be read: ${read.why}`, 'Name a JSON file.');
  const fields = fieldsOf(read.value);
  const listed = (key: string) => (Array.isArray(fields[key]) ? (fields[key] as unknown[]).map(String) : []);
  const byRun = Object.entries(fields).flatMap(([id, value]) => {
    const resolved = typeof value === 'boolean' ? value : fieldsOf(value)['resolved'];
    return typeof resolved === 'boolean' ? [[id, resolved] as const] : [];
  });
  const all = (keys: readonly string[], resolved: boolean) =>
    keys.flatMap((key) => listed(key).map((id) => [id, resolved] as const));
  return Object.fromEntries([
    ...byRun,
    ...all(['unresolved_ids', 'unresolved', 'error_ids'], false),
    ...all(['resolved_ids', 'resolved'], true),
  ]);
}

function show(io: Io, { id, acts, calls, moves, refused, submitted, resolved }: ReplayedTrajectory): void {
  const end =
    resolved === null ? (submitted === false ? ', not submitted' : '') : resolved ? ', solved' : ', not solved';
  print(
    io,
    `${escapeInvisible(id)}  ${plural(acts, 'act')}${end}: ${plural(calls, 'call')}, ${plural(moves.hops, 'hop')}, ${refused.length} refused`,
  );
  if (refused.length === 0) return;
  const rows = refused.map(({ act, request, code, why }) => [`${act}`, excerpt(request, 60), code, excerpt(why, 100)]);
  printTable(io, ['act', 'request', 'refused as', 'why'], rows);
}

function summarise(io: Io, runs: readonly ReplayedTrajectory[]): void {
  const failed = runs.filter(isFailed);
  const solved = runs.filter(({ resolved }) => resolved === true);
  const hops = runs.map(({ moves }) => moves.hops).sort((a, b) => a - b);
  const refused = runs.flatMap((run) => run.refused);
  const withRefusal = (some: readonly ReplayedTrajectory[]) => some.filter((run) => run.refused.length > 0).length;
  const codes = [...Map.groupBy(refused, ({ code }) => code)].map(([code, all]) => `${code} ${all.length}`);
  const total = (of: (run: ReplayedTrajectory) => number) => runs.reduce((sum, run) => sum + of(run), 0);
  const rows = [
    ['runs', String(runs.length)],
    ['acts', String(total(({ acts }) => acts))],
    ['calls that they need', String(total(({ calls }) => calls))],
    ['calls refused', `${refused.length}${codes.length > 0 ? ` (${codes.join(', ')})` : ''}`],
    ['hops per run, median', String(hops[Math.floor(hops.length / 2)])],
    ['solved runs with a refusal', `${withRefusal(solved)} of ${solved.length}`],
    ['failed runs with a refusal', `${withRefusal(failed)} of ${failed.length}`],
  ];
  printTable(io, ['all runs', ''], rows);
}

const isFailed = ({ resolved, submitted }: ReplayedTrajectory): boolean =>
  resolved === false || (resolved === null && submitted === false);
