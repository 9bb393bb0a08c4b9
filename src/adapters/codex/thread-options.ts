import { effectiveScope } from '../../gate/decide-step.ts';
import { isObserveOnly } from '../../gate/scope/observe-only.ts';
import { effectsOfMode } from '../../spec/mode-way.ts';
import type { Mode, ProjectConfig, SpecSet } from '../../spec/types.ts';

/** The permissions of the Codex thread itself. They do not apply to hopgate's tools. */
export interface CodexThreadOptions {
  /** `workspace-write` only if the peripheral and the mode allow changes to files. */
  readonly sandboxMode: 'read-only' | 'workspace-write';
  /** No approval can let a call out of the sandbox. */
  readonly approvalPolicy: 'never';
  /** Absolute paths that may be written; empty in a read-only thread. */
  readonly writableRoots: readonly string[];
  /** The masks: patterns, relative to the root, of files that must not be read. */
  readonly deniedReads: readonly string[];
  /** Commands reach the network only through hopgate's own tools. */
  readonly networkAccess: false;
  readonly webSearch: 'disabled';
}

/**
 * The options of Codex's own sandbox for a session in `peripheral` (null if in none) and in `mode` (null if there is no
 * mode gate). The sandbox is the second line of defence: every call passes hopgate first.
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
  const common = {
    approvalPolicy: 'never',
    deniedReads: config.mask,
    networkAccess: false,
    webSearch: 'disabled',
  } as const;
  if (isObserveOnly({ config })) return { sandboxMode: 'workspace-write', writableRoots: [root], ...common };
  const mayChange = mode === null || !specs.modeGate || effectsOfMode(specs.modeGate, mode).includes('act');
  const { write } = peripheral === null ? { write: [] } : effectiveScope(specs, config, peripheral);
  if (!mayChange || write.length === 0) return { sandboxMode: 'read-only', writableRoots: [], ...common };
  return { sandboxMode: 'workspace-write', writableRoots: write.map((path) => absolutePath(root, path)), ...common };
}

/** Resolves a path of a scope, which is relative to the root: `src/` is a folder, `.` the root itself. */
function absolutePath(root: string, path: string): string {
  const bare = path.replace(/^(?:\.\/)+/, '').replace(/(?<!\/)\/+$/, '');
  return bare === '' || bare === '.' ? root : `${root}/${bare}`;
}
