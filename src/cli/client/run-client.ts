import { spawn } from 'node:child_process';
import { CliError, type Io } from '../io.ts';

/** The time after the client's end in which an interrupt still counts as meant for the client, in milliseconds. */
const LATE_INTERRUPT = 2_000;

/**
 * Runs a client program until it ends, and returns its exit code. The program owns the terminal meanwhile, so an
 * interrupt is left to the program.
 * @param name the option that names another program: `claude` or `codex`
 */
export function runClientProgram(
  name: string,
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Io['env'] },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
    const ignore = () => {};
    const pass = (signal: NodeJS.Signals) => child.kill(signal);
    process.on('SIGINT', ignore).on('SIGTERM', pass).on('SIGHUP', pass);
    const done = () => {
      process.off('SIGTERM', pass).off('SIGHUP', pass);
      // A late interrupt may be meant for the client; it must not stop the final report.
      setTimeout(() => process.off('SIGINT', ignore), LATE_INTERRUPT).unref();
    };
    child.once('error', (error) => {
      done();
      const message = `${program} did not start: ${error.message}`;
      reject(new CliError(`${name}-failed`, message, `Name another program with --${name} PROGRAM.`));
    });
    child.once('exit', (code) => {
      done();
      resolve(code ?? 1);
    });
  });
}
