import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { wholeNumberParser } from '../shared-options.ts';
import type { ScorecardOptions } from '../world/play-scorecard.ts';

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Runs a scripted agent in the household over each connection, and judges each run by the demands P-1 to P-6; then repeats the runs with one fault for each demand. The person and the model are scripts; connections, sessions and evidence are real.',
    )
    .option('--seed <n>', 'the seed of the house', wholeNumberParser(2 ** 31), 1)
    .option('--save <dir>', 'write the transcripts, one file for each run')
    .examples('hopgate scorecard', 'hopgate scorecard --save transcripts', 'hopgate scorecard --json')
    .action(async (options: ScorecardOptions) => {
      const { playScorecard } = await import('../world/play-scorecard.ts');
      await playScorecard(io, options);
    });
}
