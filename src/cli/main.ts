#!/usr/bin/env node
import './check-node.cjs';

// Loaded only after check-node.cjs has run: an old Node fails on these files with errors that name no remedy.
const [{ runCli }, { processIo }, { explainSystemError }] = await Promise.all([
  import('./program.ts'),
  import('./io.ts'),
  import('../base/system-error.ts'),
]);

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0); // The reader closed the pipe (`hopgate log … | head`).
  process.stderr.write(`hopgate: cannot print: ${explainSystemError(error)?.message ?? error.message}\n`);
  process.exit(1);
});
process.exitCode = await runCli(process.argv.slice(2), processIo());
