import { resolve } from 'node:path';
import { escapeInvisible, plural, toShellWord } from '../../base/text.ts';
import { openEvidence } from '../../open-evidence.ts';
import { openSession } from '../../open-session.ts';
import { openProject } from '../../project/open-project.ts';
import { evidenceFile } from '../../project/state-dir.ts';
import { runScenario, type ScenarioStepOutcome } from '../../session/run-scenario.ts';
import type { Session } from '../../session/session.ts';
import { loadScenario } from '../../spec/load/load-scenario.ts';
import { loadSpecs } from '../../spec/load/load-specs.ts';
import type { Scenario } from '../../spec/schema/scenario-file.ts';
import type { ProjectConfig, SpecSet } from '../../spec/types.ts';
import { lastFailureLines } from '../../view/describe-value.ts';
import { checkApproveOption } from '../approve/approve-option.ts';
import { createWaitingApprover } from '../approve/wait-approval.ts';
import { resolveSpecsOption } from '../choose-specs.ts';
import type { CliCommand } from '../cli-command.ts';
import { keepInspectorBridgeOpen, startWatchIfOptionSet } from '../inspect/watch-machines.ts';
import { formatHeading, type Io, paint, print, printJsonLine, printRemark } from '../io.ts';
import { makeFixtureRepository } from '../run/fixture.ts';
import { createOperatorApprover } from '../run/operator-approver.ts';
import { type SessionOptions, withSessionOptions } from '../run/session-options.ts';
import {
  describeScenarioAction,
  formatDenial,
  formatResultStatus,
  formatWouldBeDenial,
  summariseToolResult,
} from '../run/show-result.ts';
import { fruitsOfVisits, showScenarioEnd } from '../run/show-scenario-end.ts';
import { type CallWithProgress, showCallProgress } from '../run/watch-call.ts';
import { resolveRootOption } from '../shared-options.ts';

interface Options extends SessionOptions {
  readonly root?: string;
  readonly specs?: string;
}

export function configureCommand(command: CliCommand, io: Io): void {
  withSessionOptions(
    command
      .description(
        'Runs a scenario on a real repository and prints each step. A scenario is a YAML file of modes, peripherals, actions, exits and expected denials. Without --root, it runs on a small example repository in a temporary folder. Exit code 1 if the result of a step differs from the scenario.',
      )
      .argument('<scenario>', 'a scenario file')
      .option('--root <dir>', 'the repository')
      .option('--specs <dir>', 'the spec set'),
  )
    .examples(
      'hopgate run specs/scenarios/fix-a-bug.yaml',
      'hopgate run my.yaml --root . --approve execute deploy',
      'hopgate run my.yaml --root . --yes --json',
    )
    .action((file: string, options: Options) => run(io, file, options));
}

interface RunRepository {
  readonly root: string;
  readonly config: ProjectConfig;
  readonly specs: SpecSet;
  readonly remote: string | null;
}

async function run(io: Io, file: string, options: Options): Promise<void> {
  const scenario = await loadScenario(resolve(io.cwd, file));
  await playScenario(io, scenario, await prepareScenarioRepository(io, scenario, options), options);
}

/** Maximum time between two Ctrl-C that end the run, in milliseconds. */
const AGAIN_MS = 1000;

/** Runs a scenario in a session of its own and prints it. Returns the id of the session. */
export async function playScenario(
  io: Io,
  scenario: Scenario,
  repository: RunRepository,
  options: Options,
): Promise<string> {
  let scripted: 'given' | 'refused' | null = null;
  const named = options.specs ?? scenario.specs;
  const specs = named === null ? repository.specs : await loadSpecs(resolveSpecsOption(io, named));
  checkApproveOption(options.approve ?? [], specs);
  const watch = await startWatchIfOptionSet(io, options.inspect);
  const store = openEvidence(repository.root, io.env, 'create');
  const session = await openSession({
    root: repository.root,
    agent: scenario.agent,
    config: repository.config,
    store,
    observe: options.observe ?? false,
    unsafeNoSandbox: options.unsafeNoSandbox ?? false,
    approver: createOperatorApprover(io, {
      yes: options.yes ?? false,
      approve: options.approve ?? [],
      scripted: () => scripted,
      ...(options.waitApproval ? { fallback: createWaitingApprover(io, repository.root, options.waitApproval) } : {}),
      root: repository.root,
    }),
    ...(watch ? { inspector: watch.inspector } : {}),
    specs,
  });
  const running: { call: CallWithProgress | null } = { call: null };
  let cancelledAt = Number.NEGATIVE_INFINITY;
  // Cancels the command. A second Ctrl-C soon after it, or one between commands, ends the run like any signal.
  const onInterrupt = () => {
    if (performance.now() - cancelledAt > AGAIN_MS && running.call?.cancel()) {
      cancelledAt = performance.now();
      return printRemark(io, 'the command is cancelled and the run continues; Ctrl-C twice ends the run');
    }
    process.removeListener('SIGINT', onInterrupt);
    process.kill(process.pid, 'SIGINT');
  };
  process.on('SIGINT', onInterrupt);
  try {
    printOpening(io, scenario, session, repository);
    const outcomes: ScenarioStepOutcome[] = [];
    const steps = runScenario(session, scenario, (step, number) => {
      scripted = step.approve;
      const action = describeScenarioAction(step.action);
      printStep(io, number, scenario, session, step.say, action);
      running.call = step.action.verb === 'step' ? showCallProgress(io, action) : null;
      return running.call ?? undefined;
    });
    for await (const outcome of steps) {
      running.call?.end();
      running.call = null;
      outcomes.push(outcome);
      printOutcome(io, outcome);
    }
    await printEnd(io, session, repository, outcomes);
    process.removeListener('SIGINT', onInterrupt);
    if (watch) await keepInspectorBridgeOpen(io, watch);
    return session.id;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
    running.call?.end();
    await session.detach();
    await store.close();
    await watch?.close();
  }
}

/** The repository of a run: the named one, or the scenario's fixture. */
export async function prepareScenarioRepository(
  io: Io,
  { fixture }: Scenario,
  { root }: Options,
): Promise<RunRepository> {
  if (root === undefined && fixture !== null)
    return { ...makeFixtureRepository(fixture), specs: await loadSpecs('default') };
  const project = await openProject(resolveRootOption(io, { root: root ?? '.' }), io.env);
  if (project.narrowed)
    printRemark(
      io,
      `hopgate.yaml is untrusted; left out: ${project.ignored.join(', ')}. Read it, then run "hopgate trust".`,
    );
  return { root: project.root, config: project.config, specs: project.specs, remote: null };
}

function printOpening(io: Io, scenario: Scenario, session: Session, { root }: RunRepository): void {
  if (io.json)
    return printJsonLine(io, {
      type: 'open',
      session: session.id,
      title: scenario.title,
      root,
      steps: scenario.steps.length,
    });
  print(io, formatHeading(io, scenario.title));
  print(io, paint(io, 'dim', `${session.state.agent} in ${root}, session ${session.id}`));
}

function printStep(
  io: Io,
  number: number,
  { steps }: Scenario,
  session: Session,
  say: string | null,
  action: string,
): void {
  if (io.json) return;
  if (say) print(io, `\n${paint(io, 'italic', `“${escapeInvisible(say)}”`)}`);
  const { mode, peripheral } = session.state;
  const where = `${mode ?? '-'} ${peripheral ?? '(outside)'}`;
  print(
    io,
    `${paint(io, 'dim', `${String(number).padStart(2)}/${steps.length}`)} ${paint(io, 'cyan', where.padEnd(18))} ${escapeInvisible(action)}`,
  );
}

function printOutcome(io: Io, { number, step, result, surprises }: ScenarioStepOutcome): void {
  if (io.json) {
    const { evidence, ...rest } = result;
    printJsonLine(io, {
      type: 'step',
      number,
      action: step.action,
      ...rest,
      evidence: evidence.map(({ id }) => id),
      surprises,
    });
    return;
  }
  if (result.ok) {
    print(io, `      ${formatResultStatus(io, result)} ${summariseToolResult(result)}`.trimEnd());
    if ('wouldRefuse' in result && result.wouldRefuse) print(io, formatWouldBeDenial(io, result.wouldRefuse));
    if ('result' in result)
      for (const line of lastFailureLines(result.result))
        print(io, paint(io, 'dim', `      │ ${escapeInvisible(line)}`));
  }
  if (!result.ok) print(io, formatDenial(io, result.denial));
  for (const surprise of surprises) print(io, `      ${paint(io, 'red', 'unexpected')}: ${escapeInvisible(surprise)}`);
}

async function printEnd(
  io: Io,
  session: Session,
  repository: RunRepository,
  outcomes: readonly ScenarioStepOutcome[],
): Promise<void> {
  const evidence = await session.evidence();
  const unexpected = outcomes.filter(({ surprises }) => surprises.length > 0);
  const denials = outcomes.filter(({ result }) => !result.ok).length;
  const database = evidenceFile(repository.root, io.env);
  if (unexpected.length > 0) io.exitCode = 1;
  if (io.json) {
    const head = evidence.at(-1);
    printJsonLine(io, {
      type: 'end',
      ok: unexpected.length === 0,
      session: session.id,
      steps: outcomes.length,
      denials,
      unexpected: unexpected.map(({ number, surprises }) => ({ number, surprises })),
      fruits: fruitsOfVisits(evidence),
      entries: evidence.length,
      head: head ? { seq: head.seq, hash: head.hash } : null,
      evidence: database,
      root: repository.root,
      remote: repository.remote,
    });
    return;
  }
  const order = (tool: string) => session.tool(tool)?.parameters.map(({ name }) => name) ?? null;
  showScenarioEnd(io, evidence, order, {
    session: session.id,
    entries: `${evidence.length}, head ${evidence.at(-1)?.hash.slice(0, 16)}…`,
    database,
    repository: repository.root,
    ...(repository.remote === null ? {} : { remote: repository.remote }),
    'read it': `hopgate thread ${session.id} --root ${toShellWord(repository.root)}`,
  });
  print(io);
  const conclusion =
    unexpected.length === 0
      ? paint(io, 'green', 'As the scenario says')
      : paint(io, 'red', `${plural(unexpected.length, 'unexpected result')}`);
  print(io, `${conclusion}: ${plural(outcomes.length, 'step')}, ${denials} refused.`);
}
