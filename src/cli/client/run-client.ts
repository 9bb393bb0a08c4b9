import { spawn } from 'node:child_process';
import { CliError, type Io } from '../io.ts';

/** How long after its end an interrupt is taken to have been the client's, in milliseconds. */
const LATE_INTERRUPT = 2_000;

/**
 * Runs a client program until it ends, and returns its exit code. It has the terminal meanwhile, so that an interrupt is its to answer.
 *
 * @param name `claude`, `codex`: the option that names another program
 */
export function runClient(
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
      // One more interrupt may be on its way to the client: it is not meant for what is told at the end.
      setTimeout(() => process.off('SIGINT', ignore), LATE_INTERRUPT).unref();
    };
    child.once('error', (error) => {
      done();
      const message = `${program} did not start: ${error.message}`;
      reject(new CliError(`${name}-failed`, message, `Name another with --${name} PROGRAM.`));
    });
    child.once('exit', (code) => {
      done();
      resolve(code ?? 1);
    });
  });
}
