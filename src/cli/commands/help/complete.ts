import type { Command } from 'commander';
import { excerpt } from '../../../base/text.ts';
import { type Completion, completeWords } from '../../help/completions.ts';
import { type Io, print } from '../../io.ts';
import { resolveRootOption } from '../../shared-options.ts';

const MAX_SESSIONS = 50;

export function configureCommand(command: Command, io: Io): void {
  command
    .description('Prints the words that complete the last word, each with a description after a tab.')
    .argument('[words...]', 'the words after "hopgate", the last one unfinished')
    .action(async (words: readonly string[]) => {
      const found = await completeWords(command.parent!, words, (root) => sessions(io, root));
      for (const { word, about } of found) print(io, `${word}\t${excerpt(about, 60)}`);
    });
}

async function sessions(io: Io, root: string): Promise<readonly Completion[]> {
  const { withEvidence } = await import('../../open-store.ts');
  const all = await withEvidence(resolveRootOption(io, { root }), io.env, [], (store) => store.sessions());
  return all
    .slice(0, MAX_SESSIONS)
    .map(({ sessionId, agent, openedAt }) => ({ word: sessionId, about: `${agent}, ${openedAt.slice(0, 16)}` }));
}
