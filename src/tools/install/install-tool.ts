import { isArgumentRefusal } from '../../gate/commands/argument-refusal.ts';
import { chooseInstallCommand } from '../../gate/commands/choose-command.ts';
import type { ObservedEffect, ToolReport } from '../../ports/tool-backend.ts';
import { testCacheMounts } from '../programs/cache-mounts.ts';
import { runConfiguredCommand } from '../proxy/run-configured-command.ts';
import { addMountsToLayout } from '../sandbox/mounts/layout.ts';
import { makeTestLayout } from '../sandbox/mounts/tool-layouts.ts';
import type { OverlayWrites } from '../sandbox/sandbox.ts';
import { applyChanges, finishChangeJournals } from '../shell/apply-changes.ts';
import { droppedChangesField, makeCommandReport } from '../shell/command-report.ts';
import { isCoverWrittenBack } from '../shell/git/report-git-changes.ts';
import { type DroppedChange, judgeChanges, mayFolderHoldWritePath } from '../shell/judge-change.ts';
import { listOverlayChanges } from '../shell/overlay-changes.ts';
import { inspectCallTree, overlayRefusal, type ScannedCallTree, type ShellContext } from '../shell/shell-context.ts';
import { isStop, refusalStop, type ToolStop } from '../workspace/tool-stop.ts';
import { findIgnoredPaths } from './ignored-paths.ts';
import { keepOverlayPaths } from './keep-overlay-paths.ts';
import { hashLockFiles } from './lock-files.ts';

/** Maximum bytes that an install may write; they are in memory until they are kept. */
const OVERLAY_BYTES = 8 * 2 ** 30;

/** Variables that keep package managers from running the scripts of packages. */
const NO_SCRIPTS = {
  npm_config_ignore_scripts: 'true',
  pnpm_config_ignore_scripts: 'true',
  YARN_ENABLE_SCRIPTS: 'false',
  BUN_CONFIG_IGNORE_SCRIPTS: '1',
  PIP_ONLY_BINARY: ':all:',
  UV_NO_BUILD: '1',
  COMPOSER_NO_SCRIPTS: '1',
};

/**
 * The tool `install` runs a configured command that installs dependencies, without a shell, on an overlay, with its
 * hosts as its only network. If it succeeds, the paths that git ignores and the changes within the scope are kept; all
 * others are listed as `dropped`. If it fails, nothing is kept.
 */
export async function runInstallTool(context: ShellContext): Promise<ToolReport | ToolStop> {
  const { call } = context;
  const chosen = chooseInstallCommand(call.envelope.config.install ?? [], call.args['command']);
  if (isArgumentRefusal(chosen)) return refusalStop(chosen);
  const refusal = overlayRefusal(context);
  if (refusal) return refusal;
  const { root } = call.envelope;
  const recovered = finishChangeJournals(root);
  const tree = await inspectCallTree(context);
  const before = hashLockFiles(root);
  const request = { ...tree, overlayBytes: OVERLAY_BYTES, limits: { ...tree.limits, memoryBytes: OVERLAY_BYTES } };
  const caches = context.sandboxed ? testCacheMounts(call) : [];
  const layout = addMountsToLayout({ ...makeTestLayout(request), name: 'install' }, caches);
  let kept: KeptChanges = { effects: [], kept: [], dropped: [] };
  let changed: string[] = [];
  const ran = await runConfiguredCommand(context, tree, layout, chosen, {
    key: 'install',
    env: { CI: '1', NO_COLOR: '1', ...(chosen.scripts ? {} : NO_SCRIPTS) },
    ...(chosen.minutes === undefined ? {} : { seconds: chosen.minutes * 60 }),
    inspect: async (view, exit) => {
      // Another program changed these files: the command's own changes are still in the overlay.
      changed = differingLocks(before, hashLockFiles(root));
      if (exit === 0 && changed.length === 0) kept = await keepChanges(context, tree, view);
    },
  });
  if (isStop(ran)) return ran;
  const effects = [...recovered.effects, ...ran.connects, ...kept.effects];
  if (changed.length > 0) {
    const message = `${changed.join(', ')} changed while the command ran, so nothing was kept. Install again.`;
    return { outcome: { status: 'failed', code: 'locks-changed', message }, effects };
  }
  const changedLocks = differingLocks(before, hashLockFiles(root));
  return makeCommandReport(context, ran.result, effects, {
    command: [...chosen.run],
    scripts: chosen.scripts,
    kept: [...kept.kept],
    changed: kept.effects.map(({ path, op }) => ({ path, op })),
    ...(changedLocks.length > 0 ? { changedLocks } : {}),
    ...droppedChangesField([...recovered.dropped, ...kept.dropped]),
    ...ran.fields,
    ...tree.remarks,
  });
}

type Locks = ReturnType<typeof hashLockFiles>;

const differingLocks = (before: Locks, after: Locks): string[] =>
  Object.keys({ ...before, ...after }).filter((name) => before[name] !== after[name]);

interface KeptChanges {
  readonly effects: readonly ObservedEffect[];
  /** The replaced paths that git ignores. */
  readonly kept: readonly string[];
  readonly dropped: readonly DroppedChange[];
}

async function keepChanges(context: ShellContext, tree: ScannedCallTree, view: OverlayWrites): Promise<KeptChanges> {
  const { call } = context;
  const startedAt = Date.now();
  const masked = new Set(tree.scan.maskedFiles);
  const changes = listOverlayChanges(call.envelope.root, view, mayFolderHoldWritePath(call.envelope)).filter(
    (change) => !isCoverWrittenBack(change, masked),
  );
  const ignored = await findIgnoredPaths(context, tree, changes);
  const tops = [...ignored.paths, ...ignored.dropped.map(({ path }) => path)];
  const isIgnored = (path: string) => tops.some((top) => path === top || path.startsWith(`${top}/`));
  const judged = judgeChanges(
    call.envelope,
    changes.filter(({ path }) => !isIgnored(path)),
    startedAt,
    tree.scan.protectedPaths,
  );
  const applied = applyChanges(call.envelope, judged, view);
  const folders = await keepOverlayPaths(call.envelope.root, ignored.paths, view);
  return {
    effects: applied.effects,
    kept: folders.kept,
    dropped: [...ignored.dropped, ...judged.dropped, ...applied.dropped, ...folders.dropped],
  };
}
