import { join } from 'node:path';
import { lstatIfAny } from '../../base/files.ts';
import { readRegularFile } from '../../base/read-file.ts';
import { valueOr } from '../../base/value-or.ts';
import { scanTestFile, type TestFileScan } from '../../evidence/findings/weakened-tests.ts';
import type { ObservedEffect, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import type { Json } from '../../spec/types.ts';
import { addFindingsToEffect, fieldWithFindings, fileStateOf } from '../file-findings.ts';
import { importProblemOfText } from '../instruction-imports.ts';
import { commandCacheMounts } from '../programs/cache-mounts.ts';
import { addMountsToLayout } from '../sandbox/mounts/layout.ts';
import { makeEditLayout } from '../sandbox/mounts/tool-layouts.ts';
import { repositoryInRoot } from '../sandbox/mounts/writable-git.ts';
import { isStop, type ToolStop } from '../workspace/tool-stop.ts';
import { type AppliedChanges, applyChanges, finishChangeJournals } from './apply-changes.ts';
import { groupIgnoredChanges } from './changed-code.ts';
import { droppedChangesField, makeCommandReport } from './command-report.ts';
import type { GitChanges } from './git/git-changes.ts';
import { findGitChangesOfRoot, isCoverWrittenBack, isInGitFolder, reportGitChanges } from './git/report-git-changes.ts';
import { type DroppedChange, judgeChanges, mayFolderHoldWritePath } from './judge-change.ts';
import { keepMovedFiles } from './keep-moved-files.ts';
import { listOverlayChanges, type OverlayChange } from './overlay-changes.ts';
import { argvOfShellCall, inspectCallTree, overlayRefusal, type ShellContext } from './shell-context.ts';

const MAX_TEXT = 256 << 20;

/**
 * The tool `bash` runs any command line on an overlay. After the command has ended by itself, its changes within the
 * scope are applied to the repository, file by file. All others are discarded and listed as `dropped`. A command that
 * was killed changes nothing. Changes of `.git` are always discarded. If a command leaves a stash or another HEAD, its
 * changes of files are discarded too, because the agent's other work would be lost or mixed with another commit.
 */
export async function runBashTool(context: ShellContext): Promise<ToolReport | ToolStop> {
  const { call } = context;
  const argv = argvOfShellCall(call);
  if (isStop(argv)) return argv;
  const refusal = overlayRefusal(context);
  if (refusal) return refusal;
  const recovered = finishChangeJournals(call.envelope.root);
  const startedAt = Date.now();
  let applied: AppliedChanges = { effects: [], dropped: [] };
  let refused: readonly DroppedChange[] = [];
  let git: GitChanges | null = null;
  const tree = await inspectCallTree(context);
  const result = await context.run(tree, addMountsToLayout(makeEditLayout(tree), commandCacheMounts(call)), argv, {
    onOutput: call.onOutput,
    inspect: async (view) => {
      const masked = new Set(tree.scan.maskedFiles);
      const hasOwnGit = repositoryInRoot(call.envelope.root) !== null;
      git = findGitChangesOfRoot(call.envelope.root, tree.scan, view);
      if (git?.spoils) return;
      const changes = listOverlayChanges(call.envelope.root, view, mayFolderHoldWritePath(call.envelope)).filter(
        (change) => !(hasOwnGit && isInGitFolder(change.path)) && !isCoverWrittenBack(change, masked),
      );
      const bytecode = changes.filter(isBytecode).map(({ path }) => ({ path, why: 'Python writes it again' }));
      const judged = keepMovedFiles(
        call.envelope.root,
        view,
        judgeChanges(
          call.envelope,
          changes.filter((change) => !isBytecode(change)),
          startedAt,
          tree.scan.protectedPaths,
          (path) => importProblemOfText(call.envelope, path, textIn(join(view.upper, path))),
        ),
      );
      refused = await groupIgnoredChanges(context, changes, [...judged.dropped, ...bytecode]);
      const before = new Map(
        [...judged.files.map(({ path }) => path), ...judged.deletions].map((path) => [
          path,
          scanTestFile(path, textIn(join(call.envelope.root, path))),
        ]),
      );
      applied = applyChanges(call.envelope, judged, view);
      applied = {
        ...applied,
        effects: applied.effects.map((effect) => withFileFindings(call.envelope, effect, before)),
      };
    },
  });
  const dropped = [...recovered.dropped, ...refused, ...applied.dropped];
  const effects: readonly ObservedEffect[] = [...recovered.effects, ...applied.effects];
  const report = makeCommandReport(context, result, effects, {
    changed: applied.effects.map(({ path, op }) => ({ path, op })),
    ...fieldWithFindings(effects),
    ...tree.remarks,
    dropped: [],
    ...droppedChangesField(dropped),
    ...(recovered.effects.length > 0 ? { completed: recovered.effects.map(({ path }): Json => path) } : {}),
  });
  return reportGitChanges(report, git, 'files');
}

/** True for a compiled Python module, which would be listed among the changed files of the session. */
const isBytecode = ({ kind, path }: OverlayChange): boolean =>
  kind !== 'delete' && /(?:^|\/)__pycache__(?:\/|$)/.test(path);

/** The text of a file that a command wrote; empty for files above the size limit. */
const textIn = (path: string): string => valueOr(() => readRegularFile(path, MAX_TEXT).toString('utf8'), '');

/** An effect with the findings on the file's new content. */
function withFileFindings(
  envelope: ToolCall['envelope'],
  effect: ObservedEffect,
  before: ReadonlyMap<string, TestFileScan | null>,
): ObservedEffect {
  const { path, op } = effect;
  if (op === 'link') return effect;
  const file = join(envelope.root, path);
  const stats = op === 'delete' ? undefined : lstatIfAny(file);
  const after = stats ? fileStateOf(path, textIn(file), stats.mode) : null;
  return addFindingsToEffect(envelope, effect, before.get(path) ?? null, after);
}
