import { randomUUID } from 'node:crypto';
import { isObject, type Json, parseJson } from '../../../base/json.ts';
import { openEvidence } from '../../../open-evidence.ts';
import { idsWithSession, openSession } from '../../../open-session.ts';
import { openProject } from '../../../project/open-project.ts';
import { readSocialOutcome } from '../../../social/message-evidence.ts';
import { sendSocialMessage } from '../../../social/pipeline.ts';
import type { SocialServices } from '../../../social/pipeline-types.ts';
import type { CliCommand } from '../../cli-command.ts';
import { CliError, type Io, print, printJson, printResult, usageError } from '../../io.ts';
import { type PersonOptions, personOption, withPersonInboxes } from '../../messages/person-option.ts';
import { resolveRootOption, rootOption } from '../../shared-options.ts';

interface Options extends PersonOptions {
  readonly to?: string;
  readonly payload?: string;
  readonly id?: string;
  readonly outcome?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Sends a message through the social pipeline: a message that asks for an action needs a mode of the recipient that allows it. Prints a receipt, or a failure with exit code 1. Without --to it opens a session, whose inbox has the message.',
    )
    .argument('[text...]', 'the message')
    .addOption(rootOption())
    .addOption(personOption())
    .option('--to <address>', 'session:<id>, agent:<id> or person:<name>')
    .option('--payload <json>', 'a typed payload instead of a text, such as {"type":"handoff"}')
    .option('--id <id>', 'the id of the message; the same id never sends twice')
    .option('--outcome <id>', 'send nothing, and print the outcome of this message')
    .examples(
      'hopgate send --to agent:codex "Who owns the deploy?"',
      'hopgate send "How does the login page find the user?"',
      'hopgate send --outcome m-01 --json',
    )
    .action(async (words: readonly string[], options: Options) => {
      if (options.outcome !== undefined) return showOutcome(io, options, options.outcome);
      const payload = payloadOf(words.join(' '), options.payload);
      const result = await withServices(io, options, (services) =>
        sendSocialMessage(
          services,
          { transport: 'cli', principal: 'operator', name: options.as },
          { id: options.id ?? `m-${randomUUID()}`, to: options.to ?? null, payload },
        ),
      );
      if (!result.ok && !io.json) throw new CliError(result.code, `${result.stage}: ${result.reason}`, result.remedy);
      if (!result.ok) io.exitCode = 1;
      if (!result.ok || io.json) return printJson(io, result);
      const { message, to, talk, mode, opened, outcome } = result;
      const gated = mode === null ? '' : `, in ${mode}`;
      print(io, `Sent ${message} to ${to}${opened ? ' (opened for it)' : ''}: ${talk}${gated}, ${outcome.type}.`);
    });
}

function payloadOf(text: string, json: string | undefined): Json {
  if (json === undefined && text === '') throw usageError('no message is given', 'Write it: hopgate send "TEXT".');
  if (json === undefined) return text;
  if (text !== '') throw usageError('a text and --payload were given', 'Give one of them.');
  const payload = parseJson(json);
  if (payload === undefined) throw usageError('--payload is not JSON', 'Quote it for your shell.');
  if (typeof payload === 'string' || isObject(payload)) return payload;
  throw usageError('--payload is neither a text nor an object', 'Write an object, such as {"type":"handoff"}.');
}

async function withServices<T>(io: Io, options: Options, use: (services: SocialServices) => Promise<T>): Promise<T> {
  const root = resolveRootOption(io, options);
  if (options.to === undefined) await openEvidence(root, io.env, 'create').close();
  return withPersonInboxes(io, options, (messages, store) =>
    use({
      store,
      messages,
      now: Date.now,
      opener: {
        root,
        readModeGate: async () => (await openProject(root, io.env)).specs.modeGate,
        open: async (id) => (await openSession({ root, agent: 'unassigned', store, ids: idsWithSession(id) })).detach(),
      },
    }),
  );
}

async function showOutcome(io: Io, options: Options, id: string): Promise<void> {
  const { outcome } = await withPersonInboxes(io, options, async (messages, store) => ({
    outcome: await readSocialOutcome(store, messages, id),
  }));
  if (!outcome)
    throw new CliError('unknown-message', `the pipeline sent no message "${id}"`, 'Take the id from a receipt.');
  printResult(io, { message: id, ...outcome }, `${id}: ${outcome.type}, ${outcome.state ?? 'in no inbox'}.`);
}
