import { type Command, Option } from 'commander';
import type { Io } from '../io.ts';
import { helpExamples, wholeNumberParser } from '../shared-options.ts';
import type { ScorecardOptions } from '../world/play-scorecard.ts';

export function configureCommand(command: Command, io: Io): void {
  command
    .description(
      'Runs a scripted agent in the household over each connection, and judges each run by the demands P-1 to P-6; then repeats the runs with one fault for each demand. The person and the model are scripts; connections, sessions and evidence are real.',
    )
    .addOption(new Option('--seed <n>', 'the seed of the house').default(1).argParser(wholeNumberParser(2 ** 31)))
    .option('--save <dir>', 'write the transcripts, one file for each run')
    .addHelpText(
      ...helpExamples('hopgate scorecard', 'hopgate scorecard --save transcripts', 'hopgate scorecard --json'),
    )
    .action(async (options: ScorecardOptions) => {
      const { playScorecard } = await import('../world/play-scorecard.ts');
      await playScorecard(io, options);
    });
}
