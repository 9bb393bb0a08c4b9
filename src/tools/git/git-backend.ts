import { isArgumentRefusal } from '../../gate/commands/argument-refusal.ts';
import { isBranchCreation, judgeGitCommand, readGitWords } from '../../gate/commands/git-command.ts';
import type { ParsedGit } from '../../gate/commands/parse-git.ts';
import type { ToolBackend, ToolCall, ToolReport } from '../../ports/tool-backend.ts';
import { LAZY_BACKENDS } from '../../spec/policy/tool-ids.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { reportIfAborted } from '../tool-outcomes.ts';
import { observeTree } from '../tree/observe-tree.ts';
import { isStop, missingRootStop, refusalStop, type ToolStop, tooLongCommandStop } from '../workspace/tool-stop.ts';
import { runGitCommit } from './commit-git.ts';
import { type GitSession, openGitSession } from './git-session.ts';
import { reportInnerRepositories } from './inner-repository.ts';
import { runGitPush } from './push-git.ts';
import { runReadOnlyGit } from './read-git.ts';
import { runGitBranchCommand } from './run-branch-command.ts';
import { runGitAdd, unstageFiles } from './stage-files.ts';

/**
 * Serves `bash-git`: `{ sub, args }`, where `sub` may also hold the whole command line (`"git commit -m 'fix: x'"`).
 * The arguments for git are built from a table of sub-commands and options. Each kind of call has its own sandbox.
 * @param env the operator's environment, which may name the author of commits
 */
export function gitBackend(sandbox: Sandbox, env = () => process.env): ToolBackend {
  return {
    ...LAZY_BACKENDS.git,
    tree: (observation) =>
      observeTree(sandbox, observation, observation.signal, observation.isOwnChange, {
        agent: observation.agent,
        env: env(),
      }),
    run: async (call) => {
      const report = reportIfAborted(call) ?? (await runGit(sandbox, call, env()).catch(refuseLength));
      return isStop(report) ? { outcome: report.stop, effects: [] } : report;
    },
  };
}

function refuseLength(error: unknown): ToolStop {
  const stop = tooLongCommandStop(error, 'args', 'Name fewer paths, or a folder.');
  if (stop === null) throw error;
  return stop;
}

async function runGit(sandbox: Sandbox, call: ToolCall, env: NodeJS.ProcessEnv): Promise<ToolReport | ToolStop> {
  const { root, scope, config, shipping } = call.envelope;
  const read = readGitWords(call.args['sub'], call.args['args']);
  if (isArgumentRefusal(read)) return refusalStop(read);
  const judged = judgeGitCommand(read.words, {
    command: scope.command,
    git: config.git,
    root,
    mask: config.mask,
    message: shipping?.message ?? null,
  });
  if (isArgumentRefusal(judged)) return refusalStop(judged);
  const { parsed } = judged;
  const session = missingRootStop(root) ?? (await openGitSession(sandbox, call));
  if (isStop(session)) return session;
  const report = await runSub(session, parsed, env);
  return isStop(report) ? report : reportInnerRepositories(report, call.envelope);
}

async function runSub(session: GitSession, parsed: ParsedGit, env: NodeJS.ProcessEnv): Promise<ToolReport | ToolStop> {
  switch (parsed.sub) {
    case 'add':
      return runGitAdd(session, parsed);
    case 'restore':
      return unstageFiles(session, parsed);
    case 'commit':
      return runGitCommit(session, parsed, env);
    case 'switch':
    case 'checkout':
      return runGitBranchCommand(session, parsed);
    case 'branch':
      return isBranchCreation(parsed) ? runGitBranchCommand(session, parsed) : runReadOnlyGit(session, parsed);
    case 'push':
      return runGitPush(session, parsed);
    default:
      return runReadOnlyGit(session, parsed);
  }
}
