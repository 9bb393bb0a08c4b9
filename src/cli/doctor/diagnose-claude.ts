import { findProgram } from '../../base/process.ts';
import type { Io } from '../io.ts';
import type { RunProgram } from '../run-program.ts';
import { lastHookCall } from './diagnose-codex.ts';
import type { Diagnosis } from './diagnosis.ts';

/** Diagnoses Claude Code: whether it starts, its version, and its last hook. Empty if Claude Code is not installed. */
export async function diagnoseClaude(root: string, io: Io, run: RunProgram): Promise<readonly Diagnosis[]> {
  const name = 'Claude Code';
  const claude = io.env['CLAUDE_BIN'] ?? findProgram('claude', io.env['PATH']);
  if (!claude) return [];
  const version = await run(claude, ['--version'], { env: io.env as NodeJS.ProcessEnv });
  if (version === null)
    return [
      {
        name,
        status: 'missing',
        found: `${claude} does not start`,
        without: 'hopgate claude does not start it; everything else works.',
        fix: `Run "${claude} --version" to see the error, or install it again (npm install -g @anthropic-ai/claude-code).`,
      },
    ];
  const found = `${version.trim().split(' ', 1)[0]} (${claude})`;
  return [{ name, status: 'ok', found, details: [lastHookCall(root, io, 'claude-code', name)] }];
}
