import fs from 'node:fs';
import { join } from 'node:path';
import { readLinkOrNull } from '../../base/files.ts';
import type { CallEnvelope, ObservedEffect } from '../../ports/tool-backend.ts';
import { effectOfWrittenFile, sha256Hex } from '../content-effect.ts';
import type { OverlayWrites } from '../sandbox/sandbox.ts';
import { AnchorMovedError, type Anchors, descriptorAnchors } from '../workspace/anchors.ts';
import { keepOwnerAndMode, makeParentFolders } from '../workspace/replace-file.ts';
import { walkPathBeneath } from '../workspace/walk-beneath.ts';
import {
  type ChangeJournal,
  type FileOwnership,
  findUnfinishedJournals,
  hashFile,
  type JournaledChange,
  makeJournal,
} from './change-journal.ts';
import type { DroppedChange, JudgedChanges } from './judge-change.ts';

/** The changes that reached the repository. Folders are not listed; their files are. */
export interface AppliedChanges {
  readonly effects: readonly ObservedEffect[];
  /** Changes that were dropped because the repository changed meanwhile. */
  readonly dropped: readonly DroppedChange[];
}

/**
 * Applies judged changes to the repository. All new contents are staged in the root and durable before the first
 * change; each file is then renamed into place. If hopgate is killed in between, {@link finishChangeJournals} completes
 * the rest from the journal.
 */
export function applyChanges(envelope: CallEnvelope, judged: JudgedChanges, view: OverlayWrites): AppliedChanges {
  const { folders, files, links, deletions, emptied } = judged;
  const paths = [...deletions, ...emptied, ...[...folders, ...files, ...links].map(({ path }) => path)];
  if (paths.length === 0) return { effects: [], dropped: [] };
  let journal: ChangeJournal | null = null;
  try {
    const modes = new Map<string, number>();
    let steps: readonly JournaledChange[];
    try {
      journal = makeJournal(envelope.root);
      steps = stageAll(envelope.root, journal, judged, view, modes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
      // The disk is full or not writable: nothing was changed yet.
      const why = `no change could be applied: ${(error as Error).message}`;
      return { effects: [], dropped: paths.map((path) => ({ path, why })) };
    }
    return performSteps(envelope.root, journal.folder, steps, modes);
  } finally {
    journal?.remove();
  }
}

function stageAll(
  root: string,
  stage: ChangeJournal,
  { folders, files, links, deletions, emptied }: JudgedChanges,
  view: OverlayWrites,
  modes: Map<string, number>,
): readonly JournaledChange[] {
  const puts = files.map(({ path, upper, lower }): JournaledChange => {
    if (lower) modes.set(path, lower.mode & 0o777);
    const owner = lower ?? upper;
    const copied = stage.add(join(view.upper, path), { mode: upper.mode, uid: owner.uid, gid: owner.gid });
    return { do: 'put', path, before: lower ? hashFile(join(root, path)) : null, ...copied };
  });
  const steps: JournaledChange[] = [
    ...deletions.map((path): JournaledChange => ({ do: 'delete', path, before: hashFile(join(root, path)) })),
    ...emptied.map((path): JournaledChange => ({ do: 'remove-folder', path })),
    ...folders.map(({ path, upper: { mode, uid, gid } }): JournaledChange => ({ do: 'folder', path, mode, uid, gid })),
    ...puts,
    ...links.map(
      ({ path, target, lower }): JournaledChange => ({
        do: 'link',
        path,
        target,
        before: lower ? hashFile(join(root, path)) : null,
      }),
    ),
  ];
  stage.commit(steps);
  return steps;
}

/** Completes the changes of a killed process, except for files that were changed since. */
export function finishChangeJournals(root: string): AppliedChanges {
  const effects: ObservedEffect[] = [];
  const dropped: DroppedChange[] = [];
  for (const { folder, steps } of findUnfinishedJournals(root)) {
    if (steps) {
      const done = performSteps(root, folder, steps, new Map());
      effects.push(...done.effects);
      dropped.push(...done.dropped);
    }
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return { effects, dropped };
}

function performSteps(
  root: string,
  stage: ChangeJournal['folder'],
  steps: readonly JournaledChange[],
  modes: ReadonlyMap<string, number>,
): AppliedChanges {
  const effects: ObservedEffect[] = [];
  const dropped: DroppedChange[] = [];
  for (const step of steps) {
    try {
      const effect = performStep(root, stage, step, modes);
      if (effect) effects.push(effect);
    } catch (error) {
      if (!(error instanceof AnchorMovedError) && (error as NodeJS.ErrnoException).code === undefined) throw error;
      dropped.push({ path: step.path, why: `it could not be applied: ${(error as Error).message}` });
    }
  }
  return { effects, dropped };
}

function performStep(
  root: string,
  stage: string,
  step: JournaledChange,
  modes: ReadonlyMap<string, number>,
): ObservedEffect | null {
  const segments = step.path.split('/');
  if (step.do === 'folder') {
    inFolder(root, segments, descriptorAnchors, (folder, isNew) => {
      if (isNew) setFolderOwner(folder, step);
    });
    return null;
  }
  return inFolder(root, segments.slice(0, -1), descriptorAnchors, (folder) => {
    const target = `${folder}/${segments.at(-1)!}`;
    if (step.do === 'remove-folder') {
      fs.rmdirSync(target);
      return null;
    }
    if (step.do === 'link' && readLinkOrNull(target) === step.target) return null;
    const now = hashFile(target);
    if (step.do === 'put' && now === step.after && !fs.existsSync(join(stage, step.staged))) return null;
    // A step that was completed before hopgate was killed is not repeated.
    if (step.do === 'delete' && now === null) return null;
    if (now !== step.before) throw new AnchorMovedError('someone else changed it meanwhile');
    if (step.do === 'delete') {
      fs.unlinkSync(target);
      const before = step.before !== null && /^[0-9a-f]{64}$/.test(step.before) ? { before: step.before } : {};
      return { path: step.path, op: 'delete', ...before };
    }
    if (step.do === 'link') {
      const made = join(stage, 'link');
      fs.rmSync(made, { force: true });
      fs.symlinkSync(step.target, made);
      fs.renameSync(made, target);
      return { path: step.path, op: 'link', after: sha256Hex(step.target), finding: `it is a link to ${step.target}` };
    }
    const staged = join(stage, step.staged);
    const mode = fs.lstatSync(staged).mode & 0o777;
    fs.renameSync(staged, target);
    if (step.before !== step.after) return effectOfWrittenFile(step.path, step.before, step.after);
    return modes.get(step.path) === mode
      ? null
      : { path: step.path, op: 'mode', before: step.after, after: step.after };
  });
}

/** Opens or creates a folder of the root, and calls `work` in it. Throws if a folder became a link in the meantime. */
function inFolder<T>(
  root: string,
  segments: readonly string[],
  anchors: Anchors,
  work: (folder: string, isNew: boolean) => T,
): T {
  const file = walkPathBeneath(root, segments, anchors);
  if (!('real' in file)) throw new AnchorMovedError('its folder was replaced meanwhile');
  try {
    if (file.real.join('/') !== segments.join('/')) throw new AnchorMovedError('a folder on its path is a link now');
    if (file.kind !== 'missing') {
      if (file.kind !== 'folder') throw new AnchorMovedError('its folder is not a folder any more');
      return work(file.anchor.path, false);
    }
    const made = makeParentFolders(file.parent, file.names, anchors);
    try {
      return work(made.folder.path, true);
    } finally {
      made.close();
    }
  } finally {
    file.close();
  }
}

function setFolderOwner(path: string, like: FileOwnership): void {
  const fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    keepOwnerAndMode(fd, like);
  } finally {
    fs.closeSync(fd);
  }
}
