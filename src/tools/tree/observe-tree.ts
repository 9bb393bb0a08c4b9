import type { ObservedTree } from '../../gate/scope/compare-trees.ts';
import type { TreeObservationRequest } from '../../ports/tool-backend.ts';
import { commitTrailerFor } from '../git/commit-trailer.ts';
import { formatPerson, personsOfCommit } from '../git/git-persons.ts';
import { findInnerRepository } from '../git/inner-repository.ts';
import { findRepository } from '../git/repository.ts';
import { LayoutError } from '../sandbox/layout-error.ts';
import { runUnsandboxed } from '../sandbox/run-unsandboxed.ts';
import { type Sandbox, SandboxError } from '../sandbox/sandbox.ts';
import { isStop } from '../workspace/tool-stop.ts';
import { computeFolderTree } from './folder-tree.ts';
import {
  computeGitTree,
  describeContentToShip,
  gitRunner,
  type IsOwnChange,
  makeShippableTest,
  treeStateOf,
} from './git-tree.ts';

/**
 * Observes the current working tree. Writes nothing into the repository.
 * @param isOwnChange the paths that a commit of the session may include; omit it if the shipped content is not needed
 * @param by the agent that a commit would name, and the operator's environment
 */
export async function observeTree(
  sandbox: Sandbox,
  context: Omit<TreeObservationRequest, 'isOwnChange' | 'agent' | 'signal'>,
  signal: AbortSignal,
  isOwnChange?: IsOwnChange,
  by: { readonly agent: string; readonly env: NodeJS.ProcessEnv } = { agent: '', env: process.env },
): Promise<ObservedTree> {
  const repository = findRepository(context.root);
  if (isStop(repository)) {
    const seen = computeFolderTree(context);
    return 'problem' in seen ? seen : { ...seen, ships: null };
  }
  const { availability } = sandbox;
  if (!availability.ok && !context.unsafeNoSandbox) return { problem: availability.reason };
  const run = availability.ok ? sandbox.run.bind(sandbox) : runUnsandboxed;
  try {
    const git = gitRunner(run, context, repository, signal);
    const tree = await computeGitTree(git, context);
    if ('problem' in tree || !isOwnChange) return 'problem' in tree ? tree : { ...treeStateOf(tree), ships: null };
    const may = makeShippableTest(context);
    const apart = (context.changed ?? []).filter((path) => findInnerRepository(context.root, path) !== null);
    const ships = await describeContentToShip(
      git,
      context,
      repository,
      tree,
      (path) => isOwnChange(path) && may(path),
      apart,
    );
    if ('problem' in ships) return ships;
    const { commits } = context.config;
    const persons = personsOfCommit(commits, repository, by.env);
    const author = persons && formatPerson(persons.author);
    const committer = persons && formatPerson(persons.committer);
    return {
      ...treeStateOf(tree),
      ships: {
        ...ships,
        author,
        ...(committer === author ? {} : { committer }),
        trailer: commitTrailerFor(commits, by.agent),
      },
    };
  } catch (error) {
    if (!(error instanceof SandboxError || error instanceof LayoutError)) throw error;
    return { problem: error.message };
  }
}
