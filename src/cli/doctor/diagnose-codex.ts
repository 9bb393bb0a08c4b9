import { askCodex } from '../../adapters/codex/ask-codex.ts';
import { CODEX_EVENTS, isHopgateCodexHook } from '../../adapters/codex/codex-hook-config.ts';
import { findProgram } from '../../base/process.ts';
import { ConversationFiles } from '../../daemon/conversation-files.ts';
import type { Io } from '../io.ts';
import type { Diagnosis } from './diagnosis.ts';

/** Limitations that no setting of Codex removes; printed whenever Codex is installed. */
const KNOWN_GAPS = [
  "Codex allows a call if its hook fails. hopgate's hook refuses in every case, unless it is killed together with its shell; then only Codex's own sandbox limits the call.",
  "Typing into an open shell (write_stdin) calls no hook; no shell is open, because every command of Codex's own shell is refused.",
  "A turn keeps the sandbox that it began with. After a hop, hopgate's tools change at once; apply_patch changes only when Codex is started again (see hopgate codex --follow).",
];

/** Diagnoses Codex and its hooks: their version, their trust, and their last call. Empty if Codex is not installed. */
export async function diagnoseCodex(root: string, io: Io): Promise<readonly Diagnosis[]> {
  const codex = io.env['CODEX_BIN'] ?? findProgram('codex', io.env['PATH']);
  if (!codex) return [];
  try {
    const { version, hooks } = await askCodex({ codex, cwd: root, env: io.env, waitMs: 10_000 });
    const hopgateHooks = hooks.filter(({ command }) => command !== null && isHopgateCodexHook(command));
    return [
      { name: 'Codex', status: 'ok', found: `${version} (${codex})`, details: KNOWN_GAPS },
      diagnoseHooks(hopgateHooks, root, io),
    ];
  } catch (error) {
    return [
      {
        name: 'Codex',
        status: 'missing',
        found: (error as Error).message,
        without: 'hopgate codex does not start; everything else works.',
        fix: 'Start codex without hopgate to see the error, or update it (codex update).',
      },
    ];
  }
}

function diagnoseHooks(hopgateHooks: Awaited<ReturnType<typeof askCodex>>['hooks'], root: string, io: Io): Diagnosis {
  const name = 'Codex hooks';
  const details = [lastHookCall(root, io, 'codex', 'Codex')];
  if (hopgateHooks.length === 0)
    return { name, status: 'ok', found: 'not installed; "hopgate codex" works without it', details };
  const ignored = hopgateHooks.filter(
    ({ enabled, trustStatus }) => !enabled || (trustStatus !== 'trusted' && trustStatus !== 'managed'),
  );
  if (ignored.length > 0)
    return {
      name,
      status: 'missing',
      found: `${ignored.length} of ${hopgateHooks.length} are ignored by Codex: ${[...new Set(ignored.map(({ enabled, trustStatus }) => (enabled ? trustStatus : 'switched off')))].join(', ')}`,
      without: "Codex's own tools are not observed; hopgate's tools are still checked.",
      fix: 'Run "hopgate install codex" again, or start codex, type /hooks and trust them.',
      details,
    };
  if (hopgateHooks.length < CODEX_EVENTS.length)
    return {
      name,
      status: 'missing',
      found: `${hopgateHooks.length} of ${CODEX_EVENTS.length}`,
      fix: 'Run "hopgate install codex" again.',
      details,
    };
  return { name, status: 'ok', found: 'installed and trusted', details };
}

/** A sentence about the last call of a client program's hooks in this repository. */
export function lastHookCall(root: string, io: Io, client: string, name: string): string {
  const last = ConversationFiles.existing(root, io.env)
    ?.all()
    .find(({ conversation }) => conversation.client === client);
  const event = last?.events.at(-1);
  return event
    ? `last call in this repository: ${event.name}, ${event.at}`
    : `no hook of ${name} was called in this repository yet`;
}
