import { isGitInternal, isMaskedByConfig, isWriteProtected } from '../../gate/scope/masks.ts';
import { MASKED_PATH_REFUSAL, PROTECTED_PATH_REFUSAL } from '../../gate/scope/path-refusals.ts';
import { writePathReason } from '../../gate/scope/write-paths.ts';
import type { CallEnvelope, ToolCall } from '../../ports/tool-backend.ts';
import { detectGitPaths } from '../git-paths.ts';
import type { Anchors } from './anchors.ts';
import { isUnderSegments, parsePathArgument, pathSegments, resolvePathSegments } from './path-argument.ts';
import { failedToolStop, outOfScopeStop, type ToolStop } from './tool-stop.ts';
import { type ExistingPath, type PathToCreate, walkPathBeneath } from './walk-beneath.ts';

export type PathAccess = 'read' | 'write';
export type HeldPath = ExistingPath | PathToCreate;

/** Checks a root-relative path as written or with links resolved; null if the envelope allows it. */
type PathCheck = (segments: readonly string[]) => { readonly message: string; readonly remedy: string } | null;

/**
 * Holds the file or folder that a call's argument names, if both the written and the real path are allowed. The caller
 * must close the result.
 */
export function holdPathArgument(
  call: ToolCall,
  argument: string,
  access: PathAccess,
  anchors: Anchors,
): HeldPath | ToolStop {
  const { root } = call.envelope;
  const parsed = parsePathArgument(root, argument, call.args[argument]);
  if ('stop' in parsed) return parsed;
  const check = access === 'read' ? makeReadCheck(call.envelope) : writeCheck(call.envelope);
  const refusal = check(parsed.segments);
  if (refusal) return outOfScopeStop(argument, refusal.message, refusal.remedy);
  const shown = parsed.segments.join('/') || '.';
  const held = walkPathBeneath(root, parsed.segments, anchors);
  switch (held.kind) {
    case 'leaves':
      return outOfScopeStop(
        argument,
        `"${shown}" leads out of the root by the link ${held.link}.`,
        'Name a file inside the root.',
      );
    case 'too-many-links':
      return failedToolStop('too-many-links', `"${shown}" leads through too many links; name the file itself.`);
    case 'dangling':
      return failedToolStop('not-found', `"${shown}" goes through a folder that does not exist.`);
    case 'not-a-folder':
      return failedToolStop('not-a-folder', `"${held.at}" is a file, so nothing is in it.`);
  }
  const real = check(held.real);
  if (!real) return held;
  held.close();
  return outOfScopeStop(argument, `"${shown}" is a link to "${held.real.join('/')}". ${real.message}`, real.remedy);
}

const pathRefusal = (path: string, { why, remedy }: typeof MASKED_PATH_REFUSAL): ReturnType<PathCheck> => ({
  message: `"${path}": ${why}.`,
  remedy,
});

/** Checks reads against the envelope. A list of readable files does not make their folders readable. */
export function makeReadCheck({ root, scope, readableFiles, config }: CallEnvelope): PathCheck {
  const git = detectGitPaths(root);
  const readable = new Set(readableFiles?.map((file) => pathSegments(file).join('/')));
  return (segments) => {
    const path = segments.join('/');
    if (scope.read === 'none')
      return { message: 'This scope reads no files.', remedy: 'Hop to a peripheral that reads.' };
    if (isMaskedByConfig(path, config.mask) || git.holdsCredential(path)) return pathRefusal(path, MASKED_PATH_REFUSAL);
    if (scope.read === 'session-log' && !readable.has(path))
      return {
        message: `"${path || '.'}" is not among the files that this session's log names.`,
        remedy: readable.size ? `Readable here: ${[...readable].slice(0, 20).join(', ')}.` : 'Read the log instead.',
      };
    return null;
  };
}

function writeCheck({ root, scope, config }: CallEnvelope): PathCheck {
  const git = detectGitPaths(root);
  const ownSpecs = config.specs === 'default' ? null : resolvePathSegments(pathSegments(config.specs));
  return (segments) => {
    const path = segments.join('/') || '.';
    const why = writePathReason(path, scope.write);
    if (why !== null)
      return {
        message: `"${path}" ${why}.`,
        remedy: scope.write.length
          ? `Writable here: ${scope.write.join(', ')}.`
          : 'Nothing is writable here; hop to a peripheral that edits.',
      };
    if (isGitInternal(path) || git.holds(path))
      return { message: `"${path}" belongs to git.`, remedy: 'Use the git tool.' };
    if (isWriteProtected(path) || (ownSpecs && isUnderSegments(segments, ownSpecs)))
      return pathRefusal(path, PROTECTED_PATH_REFUSAL);
    if (isMaskedByConfig(path, config.mask)) return pathRefusal(path, MASKED_PATH_REFUSAL);
    return null;
  };
}
