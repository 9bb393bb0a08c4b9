import { realpathSync } from 'node:fs';
import { repositoryOf } from '../../project/root.ts';
import type { HookAnswer, HookDesk, Seat } from '../core/hook-desk.ts';
import { called, cameOf, cameOfFault } from '../core/transcript-items.ts';
import { type HookEvent, readEvent, textOf, toolEvent } from './event.ts';
import type { KeptCall } from './kept-call.ts';
import { postToolUse } from './post-tool-use.ts';
import { preToolUse } from './pre-tool-use.ts';
import { NOTHING, type Reply, refuse, render } from './reply.ts';
import { HEARD, remember, type Seated } from './seated.ts';
import { noted, silenceBefore } from './silence.ts';

/** The environment of the hook process. */
export type HookEnv = { readonly [name: string]: string | undefined };

/**
 * Answers one hook event of Claude Code: what the hook process has to print, and how it has to exit. Never throws: whatever goes wrong is a
 * refusal with its reason.
 *
 * @param raw the JSON of the hook's standard input
 * @param env `HOPGATE_ROOT` names the repository, beside `HOPGATE_SESSION`; without them, it is the one that `CLAUDE_PROJECT_DIR`, or else the event's `cwd`, is of
 */
export async function handle(raw: unknown, desk: HookDesk, env: HookEnv): Promise<HookAnswer> {
  const event = readEvent(raw);
  if (!event) return refuse('hopgate: what Claude Code gave its hook cannot be read, so nothing is let through');
  let seat: Seat | null = null;
  try {
    seat = await desk.seat({
      client: 'claude-code',
      id: event.conversation,
      agentId: event.agentId,
      root: rootOf(event, env),
    });
    const noticed = await notice({ event, seat, desk });
    const reply = await answer({ event, seat: noticed, desk });
    return await finish({ event, seat: noticed, desk }, reply);
  } catch (error) {
    const call = event.name === 'PreToolUse' ? toolEvent(event) : null;
    if (seat && call) {
      const { toolUseId: id, tool, input } = call;
      desk.lived(seat, called({ id, tool, input, channel: tool }), cameOfFault(id, error));
    }
    return fault(event, error);
  }
}

/** What every call waits for is at hand; the rest is loaded when its event comes. */
async function answer(at: Seated): Promise<Reply> {
  const { event, seat, desk } = at;
  switch (event.name) {
    case 'PreToolUse':
    case 'PostToolUse':
    case 'PostToolUseFailure': {
      const call = toolEvent(event);
      if (!call) throw new Error(`the ${event.name} event names no tool`);
      return event.name === 'PreToolUse'
        ? preToolUse({ event: call, seat, desk })
        : postToolUse({ event: call, seat, desk });
    }
    case 'SessionStart':
      await remember(at, event.name, { ...seat.notes, announced: true, ...(await ownTranscript(event, seat)) });
      return (await import('./context.ts')).tellContext(at);
    case 'UserPromptSubmit':
    case 'SubagentStart':
      await remember(at, event.name);
      return (await import('./context.ts')).tellContext(at);
    case 'Stop':
      return (await import('./stop.ts')).stop(at);
    case 'SubagentStop':
      return (await import('./endings.ts')).subagentStop(at);
    case 'SessionEnd':
      return (await import('./endings.ts')).sessionEnd(at);
    case 'ConfigChange':
      return (await import('./config-change.ts')).configChange(at);
    default:
      await remember(at, event.name);
      return NOTHING;
  }
}

/** Where Claude Code keeps the conversation, and how far it was heard before: what it resumes was said before. */
async function ownTranscript({ fields }: HookEvent, { notes }: Seat): Promise<Seat['notes']> {
  const transcript = textOf(fields['transcript_path']);
  if (transcript === null || notes['transcript'] === transcript) return {};
  const { readOwnTranscript } = await import('./own-transcript.ts');
  return { transcript, heard: readOwnTranscript(transcript).end };
}

/** Writes into the seat that hooks fell silent before this event. */
async function notice(at: Seated): Promise<Seat> {
  const { event, seat } = at;
  const silence = silenceBefore(event, seat);
  if (!silence) return seat;
  const notes = { ...noted(seat, silence.text, true), announced: true };
  let noticed = await remember({ ...at, event: { ...event, toolUseId: null } }, 'silence noticed', notes);
  for (const { toolUseId } of silence.calls) {
    const missing = { ...at, seat: noticed, event: { ...event, toolUseId } };
    await giveUp(missing);
    noticed = await remember(missing, HEARD.missing);
  }
  return noticed;
}

/** The transcript is told that nobody will say how a call ended that the client ran by itself. */
async function giveUp({ event: { toolUseId }, seat, desk }: Seated): Promise<void> {
  if (toolUseId === null) return;
  const kept = (await desk.take(seat, toolUseId)) as unknown as KeptCall | null;
  if (kept?.ticket) desk.lived(seat, cameOf(toolUseId, { status: 'error', text: 'nobody told how it ended' }));
}

/** The person at the client hears of it with the next answer that has room for it. */
async function finish(at: Seated, reply: Reply): Promise<HookAnswer> {
  const untold = textOf(at.seat.notes['untold']);
  if (untold === null || reply.kind === 'deny') return render(reply, null);
  const seat = await at.desk.seat(at.seat.conversation); // with what the answer has noted meanwhile
  const { untold: _, ...notes } = seat.notes;
  await remember({ ...at, seat, event: { ...at.event, toolUseId: null } }, 'silence told', notes);
  return render(reply, `hopgate: ${untold}`);
}

/** An agent that is asked to go on because of a fault would go on for ever. */
function fault(event: HookEvent, error: unknown): HookAnswer {
  const why = error instanceof Error ? error.message : String(error);
  if (event.fields['stop_hook_active'] === true)
    return render(NOTHING, `hopgate could not answer ${event.name}: ${why}`);
  return refuse(
    `hopgate could not decide this (${event.name}): ${why}.\nWhat to do: try again; if it stays, ask the operator to run "hopgate doctor". Nothing is let through until then.`,
  );
}

function rootOf({ fields }: HookEvent, env: HookEnv): string {
  // Alone it may be anybody's: a repository's settings set variables. Who names a session that is there was told of both.
  const named = textOf(env['HOPGATE_SESSION']) === null ? null : textOf(env['HOPGATE_ROOT']);
  if (named !== null) return realpathSync(named);
  const folder = textOf(env['CLAUDE_PROJECT_DIR']) ?? textOf(fields['cwd']);
  if (folder === null) throw new Error('the event does not say which folder it is about');
  return repositoryOf(realpathSync(folder));
}
