import { effectiveScope } from '../../gate/decide-step.ts';
import type { Mode, ProjectConfig, SpecSet } from '../../spec/types.ts';

/** What a Codex thread may do by itself, beside hopgate's tools. */
export interface CodexThreadOptions {
  /** `workspace-write` only where the agent may change files here and now. */
  readonly sandboxMode: 'read-only' | 'workspace-write';
  /** Nobody is asked to let a call out of the sandbox. */
  readonly approvalPolicy: 'never';
  /** Absolute; what may be written. Empty in a read-only thread. */
  readonly writableRoots: readonly string[];
  /** Patterns beneath the root that are not to be read: the masks. */
  readonly deniedReads: readonly string[];
  /** Commands reach the network through hopgate's own tools, or not at all. */
  readonly networkAccess: false;
  readonly webSearch: 'disabled';
}

/**
 * How Codex's own sandbox has to stand for a session that is in `peripheral` (null: in none) and in `mode` (null: no mode gate). It is the second
 * line: every call passes hopgate first.
 *
 * @example threadOptions(specs, config, 'explore', '/repo').sandboxMode // 'read-only'
 */
export function threadOptions(
  specs: SpecSet,
  config: ProjectConfig,
  peripheral: string | null,
  root: string,
  mode: Mode | null = null,
): CodexThreadOptions {
  const rest = {
    approvalPolicy: 'never',
    deniedReads: config.mask,
    networkAccess: false,
    webSearch: 'disabled',
  } as const;
  const acts = mode === null || (specs.modeGate?.effects[mode].includes('act') ?? true);
  const { write } = peripheral === null ? { write: [] } : effectiveScope(specs, config, peripheral);
  if (!acts || write.length === 0) return { sandboxMode: 'read-only', writableRoots: [], ...rest };
  return { sandboxMode: 'workspace-write', writableRoots: write.map((path) => beneath(root, path)), ...rest };
}

/** Scope paths are root-relative and normalised, with a `/` behind a folder's name, or `.` for all of the root. */
function beneath(root: string, path: string): string {
  const bare = path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  return bare === '' || bare === '.' ? root : `${root}/${bare}`;
}
