import { excerpt } from '../../../base/text.ts';
import { decide } from '../../../gate/decide.ts';
import type { Denial } from '../../../gate/denial.ts';
import type { SessionView } from '../../../gate/session-view.ts';
import { openProject } from '../../../project/open-project.ts';
import { stateDir } from '../../../project/state-dir.ts';
import { SessionReader } from '../../../server/session-reader.ts';
import type { SessionPin } from '../../../session/pin.ts';
import { loadSpecs } from '../../../spec/load/load-specs.ts';
import { bestModeOfCall, listModesOfGate } from '../../../spec/mode-way.ts';
import { getOwn } from '../../../spec/names.ts';
import type { Fields, Mode, SpecSet } from '../../../spec/types.ts';
import { readPinOrThrow, withExistingSessions } from '../../choose-sessions.ts';
import { checkPeripheralOption, resolveSpecsOption } from '../../choose-specs.ts';
import type { CliCommand } from '../../cli-command.ts';
import { type Io, paint, print, printJson, usageError } from '../../io.ts';
import { findSession } from '../../open-store.ts';
import { printTrustWarning } from '../../print-config-warnings.ts';
import { formatDenial } from '../../run/show-result.ts';
import { type RootOption, resolveRootOption, rootOption } from '../../shared-options.ts';
import { parseArguments } from '../../shell/parse-line.ts';

interface Options extends RootOption {
  readonly peripheral?: string;
  readonly tool: string;
  readonly mode?: string;
  readonly agent?: string;
  readonly specs?: string;
  readonly session?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Asks the gate whether it would allow a tool call, without running anything. Uses the current specs, or with --session the specs that the session is pinned to. Without --peripheral it answers for the session as it is now: in its peripheral and mode, with its evidence so far. Exit code 1 if the call would be refused.',
    )
    .argument('[args...]', 'the arguments in order, or as name=value; lists and objects as JSON')
    .option('-p, --peripheral <id>', 'the peripheral of the call; needed without --session')
    .requiredOption('-t, --tool <id>', 'the tool')
    .option('-m, --mode <mode>', 'the mode; by default one that allows the tool and admits the peripheral')
    .option('-a, --agent <id>', 'the agent that calls; by default one that may enter the peripheral')
    .option('--specs <dir>', 'the spec set')
    .option('--session <id>', 'ask for this session as it is now; with --peripheral, use only its specs')
    .addOption(rootOption())
    .examples(
      'hopgate explain --peripheral explore --tool write src/a.ts',
      'hopgate explain -p edit -t edit path=src/a.ts old=a new=b',
      'hopgate explain -p edit -t write -m diagnose docs/a.md text --json',
      'hopgate explain --session s-4f1c -t write src/a.ts text',
    )
    .action((args: string[], options: Options) => explain(io, args, options));
}

async function explain(io: Io, words: readonly string[], options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const { peripheral } = options;
  if (peripheral === undefined) return explainNow(io, root, words, options);
  const { specs, config } = await decidingPin(io, root, options);
  checkPeripheralOption(peripheral, specs);
  const mode = modeOf(specs, options);
  const args = parseArguments(getOwn(specs.tools, options.tool), words);
  const agent = options.agent ?? getOwn(specs.peripherals, peripheral)?.agents?.[0] ?? 'anyone';
  const view = { ...sessionViewAfterEntry(root, peripheral, mode), agent };
  const decision = decide({ specs, config, view, unsafeNoSandbox: false }, { kind: 'step', tool: options.tool, args });
  printDecision(io, { peripheral, mode, tool: options.tool, args }, decision.ok ? null : decision.denial);
}

/** Prints the decision about the call in the session's present peripheral and mode. */
async function explainNow(io: Io, root: string, words: readonly string[], options: Options): Promise<void> {
  const { session, tool } = options;
  if (session === undefined || options.mode !== undefined || options.agent !== undefined)
    throw usageError('no peripheral is named', 'Add --peripheral, or use --session without --mode and --agent.');
  await withExistingSessions(io, root, async (store) => {
    const { sessionId } = findSession(await store.sessions(), session);
    const reader = await SessionReader.open({ store, stateDir: stateDir(root, io.env) }, sessionId);
    const args = parseArguments(getOwn(reader.pin.specs.tools, tool), words);
    const { visit, mode } = reader.view;
    printDecision(
      io,
      { peripheral: visit?.peripheral ?? null, mode, tool, args },
      reader.why({ kind: 'step', tool, args }),
    );
  });
}

interface Question {
  readonly peripheral: string | null;
  readonly mode: Mode | null;
  readonly tool: string;
  readonly args: unknown;
}

function printDecision(io: Io, question: Question, denial: Denial | null): void {
  const { peripheral, mode, tool } = question;
  if (denial) io.exitCode = 1;
  if (io.json)
    return printJson(io, denial === null ? { allowed: true, ...question } : { allowed: false, ...question, denial });
  const where = peripheral === null ? 'outside of any peripheral' : `in ${peripheral}`;
  const call = `${excerpt(tool, 100)} ${where}${mode === null ? '' : `, mode ${mode}`}`;
  if (denial === null) return print(io, `${paint(io, 'green', 'allowed')}  ${call}`);
  print(io, `${paint(io, 'red', 'refused')}  ${call}`);
  print(io, formatDenial(io, denial, '  '));
}

async function decidingPin(io: Io, root: string, { session, specs }: Options): Promise<SessionPin> {
  if (session !== undefined)
    return withExistingSessions(io, root, async (store) =>
      readPinOrThrow(store, findSession(await store.sessions(), session)),
    );
  const project = await openProject(root, io.env);
  printTrustWarning(io, project);
  return {
    config: project.config,
    specs: specs === undefined ? project.specs : await loadSpecs(resolveSpecsOption(io, specs)),
  };
}

function modeOf({ modeGate, tools }: SpecSet, { mode: named, peripheral = '', tool }: Options): Mode | null {
  if (named === undefined) return modeGate ? bestModeOfCall(modeGate, peripheral, getOwn(tools, tool)?.effect) : null;
  if (modeGate && Object.hasOwn(modeGate.effects, named)) return named;
  throw usageError(
    modeGate ? `there is no mode "${named}"` : 'this spec set has no mode gate',
    modeGate ? `Modes: ${listModesOfGate(modeGate).join(', ')}.` : 'Leave --mode out.',
    'unknown-mode',
  );
}

/** The view of a session that has just entered the peripheral, for the dry run. */
export function sessionViewAfterEntry(root: string, peripheral: string, mode: Mode | null): SessionView {
  const nothing: Fields = {};
  return {
    sessionId: 'dry-run',
    agent: 'anyone',
    root,
    now: 0,
    closed: false,
    mode,
    visit: { peripheral, status: 'active', steps: 0, denials: 0, deadline: null, observedFruit: {} },
    visits: { [peripheral]: 1 },
    steps: 0,
    denials: 0,
    naturalClose: false,
    tests: { passed: false, count: 0, failed: 0 },
    patterns: {},
    backpack: nothing,
    fruits: {},
    files: [],
    changes: {},
    usedNonces: [],
  };
}
