import { modeChangesBeforeHop, readCallArguments } from '../../adapters/core/calls/control-calls.ts';
import { describeShippingStep, readSituation } from '../../adapters/core/situation.ts';
import { escapeInvisible, escapeTerminalLine, excerpt, plural, shorten } from '../../base/text.ts';
import { toBody } from '../../evidence/bodies.ts';
import { describeWayLeg } from '../../gate/describe-denial.ts';
import { renderMessages } from '../../messages/render-messages.ts';
import type { Session } from '../../session/session.ts';
import { findSimilarName } from '../../spec/names.ts';
import type { Json, Mode, Principal } from '../../spec/types.ts';
import { summariseEntry, summariseEntryInOneLine } from '../../view/entry-summary.ts';
import { type Io, paint, print, printJsonLine } from '../io.ts';
import { formatDenial, formatResultStatus, formatWouldBeDenial, summariseToolResult } from '../run/show-result.ts';
import { type CallWithProgress, showCallProgress } from '../run/watch-call.ts';
import { SHELL_VERBS } from './complete-line.ts';
import { findUnknownParameter, parseArguments, parseLine, type ShellLine } from './parse-line.ts';

type Result = Awaited<
  ReturnType<
    Session['step'] | Session['hop'] | Session['start'] | Session['stop'] | Session['setMode'] | Session['close']
  >
>;

/**
 * Runs one line of the shell. Returns true if the shell must end.
 * @param onCall called with a tool's call when it begins, and with null when it has ended
 */
export async function runLine(
  io: Io,
  session: Session,
  text: string,
  onCall: (call: CallWithProgress | null) => void = () => {},
): Promise<boolean> {
  const line = parseLine(text);
  if (line.verb === '' || line.verb.startsWith('#')) return false;
  if (line.verb === 'exit' || line.verb === 'quit') return true;
  const mistake = mistakeIn(session, line);
  if (mistake !== null) {
    io.exitCode = 1;
    if (io.json) printJsonLine(io, { type: 'mistake', line: text, message: mistake });
    else print(io, `  ${paint(io, 'red', 'not understood')}: ${mistake}`);
    return false;
  }
  if (line.verb === 'help') printHelp(io, session);
  else if (line.verb === 'status') printStatus(io, session);
  else if (line.verb === 'log') await printLog(io, session, line);
  else if (line.verb === 'why') printWhy(io, session, line);
  else if (line.verb === 'inbox') await printInbox(io, session);
  else {
    const call = SHELL_VERBS.includes(line.verb) ? null : showCallProgress(io, text.trim());
    onCall(call);
    const result = await runAction(session, line, call);
    onCall(null);
    printOutcome(io, result, call?.end() ?? false);
  }
  return line.verb === 'close' && session.state.closed;
}

const OPTIONS: { readonly [verb: string]: readonly string[] } = {
  start: ['by'],
  stop: ['reason', 'by'],
  mode: ['summary', 'reason', 'reset', 'by'],
  hop: ['exit', 'mode', 'summary', 'reason', 'by'],
};

const takesFruit = (verb: string): boolean => verb === 'hop' || verb === 'stop';

const optionsOf = (verb: string): readonly string[] => [
  ...(OPTIONS[verb] ?? []).map((name) => `--${name}`),
  ...(takesFruit(verb) ? ['--fruit.FIELD'] : []),
];

/** Reports a misspelt verb or option; null if there is none. The gate decides if the action is allowed. */
function mistakeIn(session: Session, { verb, words, unquoted, options, problem }: ShellLine): string | null {
  if (problem !== null) return problem;
  const allowed = OPTIONS[verb];
  const tool = session.tool(verb);
  const foreign = tool && findUnknownParameter(tool, words, unquoted);
  if (foreign)
    return `${verb} has no parameter ${escapeInvisible(foreign)}; it has ${tool.parameters.map(({ name }) => name).join(', ')}. In quotes, "${escapeInvisible(foreign)}" is text`;
  if (allowed !== undefined && words.some((word) => word.startsWith('{')))
    return `${verb} takes options, not JSON: ${optionsOf(verb)
      .map((name) => `${name} "…"`)
      .join(', ')}`;
  const named = allowed === undefined ? undefined : words.find((word) => /^[a-z][\w-]*=/.test(word))?.split('=')[0];
  if (allowed !== undefined && named !== undefined)
    return `${verb} takes options, not name=value: ${allowed.includes(named) || !takesFruit(verb) ? `--${named}` : `--fruit.${named}`} "…"`;
  if (allowed === undefined) {
    const isKnown = SHELL_VERBS.includes(verb) || tool !== undefined;
    const near = isKnown ? null : findSimilarName(verb, [...session.available().tools, ...SHELL_VERBS]);
    return near === null || session.tool(near) !== undefined
      ? null
      : `"${escapeInvisible(verb)}"; did you mean ${near}?`;
  }
  const unknown = Object.keys(options).find(
    (name) => !allowed.includes(name) && !(takesFruit(verb) && /^fruit\../.test(name)),
  );
  if (unknown === undefined) return null;
  const near = findSimilarName(unknown, allowed);
  return `${verb} has no option --${escapeInvisible(unknown)}; ${near === null ? `it has ${optionsOf(verb).join(', ')}` : `did you mean --${near}?`}`;
}

/** Runs a verb that changes the session. Any other verb is the name of a tool. */
async function runAction(
  session: Session,
  { verb, words, unquoted, options, json: given }: ShellLine,
  call: CallWithProgress | null,
): Promise<Result> {
  const text = (name: string): string | undefined => (typeof options[name] === 'string' ? options[name] : undefined);
  const by = text('by') as Principal | undefined;
  const reason = text('reason');
  const [first = ''] = words;
  const fruit = fruitOf(options);
  switch (verb) {
    case 'start':
      return session.start(first, { by });
    case 'stop':
      return session.stop(reason ?? (words.join(' ') || 'done'), { fruit, by });
    case 'close':
      return session.close(words.join(' ') || 'done');
    case 'mode': {
      const summary = text('summary');
      return session.setMode({
        to: first as Mode,
        summary,
        reason,
        by,
        ...(options['reset'] ? { reset: true, by: 'operator' as const } : {}),
      });
    }
    case 'hop': {
      const exit = text('exit');
      const why = reason ?? (words.slice(1).join(' ') || 'typed at the prompt');
      const modeArguments = readCallArguments({ mode: text('mode'), summary: text('summary'), reason: why });
      const hop = { to: first, reason: why, exit, fruit, by };
      for (const { from: _, ...change } of await modeChangesBeforeHop(modeArguments, session, hop)) {
        const changed = await session.setMode({ ...change, by });
        if (!changed.ok) return changed;
      }
      return session.hop(hop);
    }
    default:
      return session.step({ tool: verb, args: given ?? parseArguments(session.tool(verb), words, unquoted), ...call });
  }
}

/** `--fruit.summary "…"` states the field `summary` of the fruit. */
function fruitOf(options: ShellLine['options']): { [field: string]: Json } | undefined {
  const fields = Object.entries(options).filter(([name]) => name.startsWith('fruit.'));
  return fields.length === 0
    ? undefined
    : Object.fromEntries(fields.map(([name, value]) => [name.slice('fruit.'.length), value]));
}

/** @param wasShown true if the output was printed while the call ran */
function printOutcome(io: Io, result: Result, wasShown: boolean): void {
  if (!result.ok) io.exitCode = 1;
  if (io.json) {
    const { evidence, ...rest } = result;
    return printJsonLine(io, { type: 'result', ...rest, evidence: evidence.map(({ id }) => id) });
  }
  if (!result.ok) return print(io, formatDenial(io, result.denial, '  ', asShellCommands));
  const { text, stdout, stderr, matches, files, leftOut, longLines } = (('result' in result && result.result) ||
    {}) as {
    [key: string]: Json;
  };
  const line = summariseToolResult(stdout === undefined ? result : withoutOutput(result));
  print(io, `  ${formatResultStatus(io, result)}${line ? ` ${line}` : ''}`);
  if ('wouldRefuse' in result && result.wouldRefuse)
    print(io, formatWouldBeDenial(io, result.wouldRefuse, '  ', asShellCommands));
  for (const output of wasShown ? [text] : [text, stdout, stderr])
    if (typeof output === 'string' && output !== '') print(io, visibleText(io, output));
  for (const match of Array.isArray(matches) ? matches : []) {
    const { path, line: number, text: found } = match as { path: string; line: number; text: string };
    print(io, `${escapeInvisible(path)}:${number}: ${visibleText(io, shorten(found, 200))}`);
  }
  if (Array.isArray(files) && !Array.isArray(matches))
    print(io, files.map((file) => escapeInvisible(String(file))).join('\n'));
  for (const entry of result.evidence.filter(({ body }) => toBody(body)?.event === 'par'))
    print(
      io,
      summariseEntry(entry)
        .notes.map((note) => `  ${escapeInvisible(note)}`)
        .join('\n'),
    );
  for (const omitted of [leftOut, longLines])
    if (omitted !== undefined) print(io, `  left out: ${excerpt(JSON.stringify(omitted), 400)}`);
}

/**
 * Rewrites the calls in a remedy as commands of hopgate's shell.
 *
 * @example asShellCommands('hop to edit with exit found') // 'hop edit --exit found'
 */
const asShellCommands = (text: string): string =>
  text
    .replaceAll(
      /with fruit: \{([^{}]+)\}/g,
      (_, fields: string) => `with ${fields.replaceAll(/"([\w-]+)": "…",?/g, '--fruit.$1 "…"')}`,
    )
    .replaceAll(/Usage: ([\w-]+) \{ ([^{}]+) \}/g, (_, tool: string, parameters: string) => {
      return `Usage: ${tool} ${parameters.replaceAll(/(?<![\w-])([\w-]+)\?/g, '[$1]').replaceAll(',', '')}`;
    })
    .replaceAll(/hop to ([\w-]+) with exit ([\w-]+)/g, 'hop $1 --exit $2')
    .replaceAll(/Ask the operator to reset the mode to ([\w-]+)/g, 'Type mode $1 --reset')
    .replaceAll(/ask the operator to reset the mode to ([\w-]+)/g, 'type mode $1 --reset')
    .replaceAll(/([Ww])rite \{"to":"([\w-]+)","exit":"([\w-]+)","reason":"…"\}/g, '$1rite hop $2 --exit $3')
    .replaceAll(/(?:([Cc])all )?mode\((\{[^{}]*\})\)/g, (_, c: string | undefined, call: string) => {
      const { to, summary } = JSON.parse(call) as { readonly to: string; readonly summary?: string };
      return `${c === undefined ? '' : c === 'C' ? 'Type ' : 'type '}mode ${to}${summary === undefined ? '' : ' --summary "…"'}`;
    });

/** The result without the command's output, which is printed below it. */
const withoutOutput = (result: object): object =>
  'result' in result ? { ...result, result: { ...(result.result as object), stdout: '', stderr: '' } } : result;

/** Escapes printed text but keeps its line breaks and colours. */
const visibleText = (io: Io, text: string): string =>
  text
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => escapeTerminalLine(line, io.color))
    .join('\n');

function printStatus(io: Io, session: Session): void {
  const here = session.available();
  if (io.json) return printJsonLine(io, { type: 'status', ...session.state, available: here });
  const { mode, peripheral, steps, denials } = session.state;
  if (session.observeOnly) print(io, '  observe-only: calls that would be refused run, and the refusal is recorded');
  print(io, `  mode        ${mode ?? '(no mode gate)'}`);
  print(io, `  peripheral  ${peripheral ?? '(outside)'}`);
  print(io, `  tools       ${here.tools.join(', ') || 'none in this mode'}`);
  for (const [index, leg] of here.hops.entries())
    print(io, `  ${index === 0 ? 'hops    ' : '        '}    ${asShellCommands(describeWayLeg(leg))}`);
  for (const path of readSituation(session).ships) print(io, `  to ${path.to.padEnd(8)} ${describeShippingStep(path)}`);
  for (const { to, needs } of here.modes)
    print(io, `  mode →      ${to}${needs.length > 0 ? ` (needs: ${needs.join('; ')})` : ''}`);
  print(io, `  so far      ${plural(steps, 'step')}, ${denials} refused`);
}

async function printLog(io: Io, session: Session, { words }: ShellLine): Promise<void> {
  const evidence = (await session.evidence()).slice(-(Number(words[0]) || 20));
  for (const entry of evidence) {
    if (io.json) printJsonLine(io, { type: 'entry', entry });
    else {
      const { event, text } = summariseEntryInOneLine(
        entry,
        (tool) => session.tool(tool)?.parameters.map(({ name }) => name) ?? null,
      );
      print(io, `  ${String(entry.seq).padStart(4)} ${event.padEnd(14)} ${excerpt(text, 120)}`);
    }
  }
}

function printWhy(io: Io, session: Session, line: ShellLine): void {
  const [tool = '', ...words] = line.words;
  const call = { tool, args: parseArguments(session.tool(tool), words, line.unquoted.slice(1)) };
  const denial = session.wouldRefuse(call);
  if (io.json) return printJsonLine(io, { type: 'why', tool, allowed: session.why(call) === null, denial });
  if (denial !== null && session.why(call) === null) print(io, `  ${paint(io, 'yellow', 'would be refused')}`);
  print(
    io,
    denial === null
      ? `  ${paint(io, 'green', 'allowed')} ${tool} is allowed here`
      : formatDenial(io, denial, '  ', asShellCommands),
  );
}

/** Shows the unread messages of the session, and acknowledges them. */
async function printInbox(io: Io, session: Session): Promise<void> {
  const unread = await session.inbox();
  if (!unread.ok) return printOutcome(io, { ...unread, evidence: [] }, false);
  const { messages } = unread;
  if (io.json) printJsonLine(io, { type: 'inbox', messages });
  else print(io, messages.length === 0 ? '  No messages.' : renderMessages(messages));
  if (messages.length > 0) await session.acknowledge(messages.map(({ id }) => id));
}

function printHelp(io: Io, session: Session): void {
  const tools = session.available().tools.map((id) => {
    const parameters = session.tool(id)?.parameters.map(({ name, required }) => (required ? name : `[${name}]`)) ?? [];
    return `  ${[id, ...parameters].join(' ')}`;
  });
  print(
    io,
    [
      ...(tools.length > 0 ? ['Tools here:', ...tools] : ['No tools here in this mode.']),
      'Always:',
      '  start <peripheral>                        enter one from outside',
      '  hop <peripheral> --exit <exit> [--mode <mode>] [--reason …] [--fruit.<field> …]',
      '  mode <mode> [--summary …] [--reset]       change the mode',
      '  why <tool> [args…]                        would the call be allowed?',
      '  status · log [n] · inbox · stop [reason] · close [reason] · exit',
      `  (${SHELL_VERBS.length} verbs; --by operator speaks as the operator)`,
    ].join('\n'),
  );
}
