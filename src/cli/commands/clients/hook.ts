import type { Command } from 'commander';
import type { Io } from '../../io.ts';

export function configureCommand(command: Command, io: Io): void {
  command
    .description('Answers one hook event of a client program, from stdin. Client programs use a faster program.')
    .argument('<client>', 'claude-code or codex')
    .action(async (client: string) => {
      const { runHookProcess } = await import('../../../daemon/hook/hook-process.ts');
      await runHookProcess(['hook', client], io.env);
    });
}
