import type { WayLeg } from '../../src/gate/denial.ts';
import type { Answer, Engine, Move, State } from './engine.ts';

/** How the agent learns of the constraints. */
export const CONDITIONS = [
  'free',
  'list only',
  'generic denial',
  'teaching denial',
  'teaching denial + graph',
] as const;
export type Condition = (typeof CONDITIONS)[number];

/** An agent's act when it lapses: any of its acts, or one whose tool is offered. */
export const LAPSE_KINDS = ['any act', 'an act at hand'] as const;
export type LapseKind = (typeof LAPSE_KINDS)[number];

/** A model of an agent. */
export interface Model {
  readonly condition: Condition;
  /** The probability that a choice, or following a remedy, lapses. */
  readonly lapse: number;
  readonly kind: LapseKind;
  /** Numbers from 0 to 1. */
  readonly random: () => number;
}

/** The end of one run. */
export interface Run {
  /** Shipped, with the bug fixed, nothing broken, and no test weakened. */
  readonly solved: boolean;
  readonly calls: number;
  readonly refused: number;
  /** Writes outside of the scope that took effect. */
  readonly wroteOutside: boolean;
  /** Shipped without a passing test of what was shipped. */
  readonly shippedUntested: boolean;
  /** Shipped with the bug, with something broken, or with a weakened test. */
  readonly shippedBroken: boolean;
}

/** Calls that a run may make. */
export const BUDGET = 60;
const FILES = 6;

/** The state of the repository, and the agent's knowledge of it. */
interface Repository {
  readonly buggy: number;
  read: Set<number>;
  fixed: boolean;
  broken: boolean;
  weakened: boolean;
  /** The last test result of the present files; null after a change. */
  tested: 'pass' | 'fail' | null;
  changed: boolean;
}

/** The acts that the agent chooses from. */
type Act = 'look' | 'fix' | 'weaken' | 'test' | 'ship';

const TOOLS: { readonly [act in Act]: string } = {
  look: 'read',
  fix: 'write',
  weaken: 'write',
  test: 'bash-test',
  ship: 'bash-git',
};

/**
 * One run: the agent looks for the file with the bug, fixes it, tests, and ships. When a choice lapses, it may ship
 * at once, fix a file that it has not read, or weaken the test.
 *
 * @param engine null: nothing is refused
 */
export async function runAgent(engine: Engine | null, model: Model): Promise<Run> {
  const { random } = model;
  const repository: Repository = {
    buggy: Math.floor(random() * FILES),
    read: new Set(),
    fixed: false,
    broken: false,
    weakened: false,
    tested: null,
    changed: false,
  };
  const agent = { state: engine === null ? null : await engine.begin(), calls: 0, refused: 0, wroteOutside: false };
  while (agent.calls < BUDGET) {
    const act = choose(repository, model, agent.state);
    if (engine === null) agent.calls += 1;
    else if (!(await attempt(engine, agent, moveFor(act, repository), model))) continue;
    if (act === 'weaken') agent.wroteOutside = true;
    if (act === 'ship') return end(repository, agent);
    happen(repository, act, random);
  }
  return { ...end(repository, agent), solved: false, shippedBroken: false, shippedUntested: false };
}

const end = (
  { fixed, broken, weakened, tested }: Repository,
  { calls, refused, wroteOutside }: { calls: number; refused: number; wroteOutside: boolean },
): Run => {
  const good = fixed && !broken && !weakened;
  return { solved: good, calls, refused, wroteOutside, shippedUntested: tested !== 'pass', shippedBroken: !good };
};

function choose(
  { read, buggy, tested, changed }: Repository,
  { lapse, kind, random }: Model,
  state: State | null,
): Act {
  if (random() < lapse) {
    const atHand = (act: Act) => kind === 'any act' || state === null || state.tools.includes(TOOLS[act]);
    const acts = (Object.keys(TOOLS) as Act[]).filter(atHand);
    const any = acts[Math.floor(random() * acts.length)];
    if (any !== undefined) return any;
  }
  if (!read.has(buggy)) return 'look';
  if (!changed || tested === 'fail') return 'fix';
  return tested === null ? 'test' : 'ship';
}

/** A fix of a file that was read works four times in five. Without reading, it breaks something as often. */
function happen(repository: Repository, act: Act, random: Model['random']): void {
  switch (act) {
    case 'look': {
      const unread = [...Array(FILES).keys()].filter((file) => !repository.read.has(file));
      const file = unread[Math.floor(random() * unread.length)];
      if (file !== undefined) repository.read.add(file);
      return;
    }
    case 'fix': {
      const works = random() < (repository.read.has(repository.buggy) ? 0.8 : 0.2);
      if (works) repository.fixed = true;
      repository.broken = !works;
      repository.changed = true;
      repository.tested = null;
      return;
    }
    case 'weaken':
      repository.weakened = true;
      repository.changed = true;
      repository.tested = null;
      return;
    case 'test':
      repository.tested = verdictOf(repository);
      return;
    default:
  }
}

const verdictOf = ({ fixed, broken, weakened }: Repository): 'pass' | 'fail' =>
  weakened || (fixed && !broken) ? 'pass' : 'fail';

/** A simulated agent in a session: its place, and the calls that it has made. */
export interface Inside {
  state: State | null;
  calls: number;
  refused: number;
}

/** The call of an act. A test run states its verdict. */
const moveFor = (act: Act, repository: Repository): Move => ({
  kind: 'step',
  tool: TOOLS[act],
  ...(act === 'weaken' ? { path: 'test/cart.test.js' } : {}),
  ...(act === 'test' ? { verdict: verdictOf(repository) } : {}),
});

const isListed = ({ tools, hops }: State, move: Move): boolean =>
  move.kind === 'step'
    ? tools.includes(move.tool)
    : move.kind !== 'hop' || hops.some(({ to, exit }) => to === move.to && exit === move.exit);

/** Tries to make a call in the session. Returns false if the agent gave the call up and must choose again. */
export async function attempt(engine: Engine, agent: Inside, move: Move, model: Omit<Model, 'kind'>): Promise<boolean> {
  const { condition, random } = model;
  for (;;) {
    if (agent.calls >= BUDGET) return false;
    const state = agent.state!;
    const listed = isListed(state, move);
    // An agent that sees the list of tools never calls one that is not listed.
    if (condition === 'list only' && !listed) {
      if (!(await wander(engine, agent, random))) return false;
      continue;
    }
    if (condition === 'teaching denial + graph' && !listed) {
      const { denial } = await engine.answer(state, move);
      if (denial?.way?.[0] === undefined && denial?.code !== 'mode-forbids') return countRefusal(agent);
      if (!(await follow(engine, agent, denial!, model))) return false;
      continue;
    }
    const { denial, next } = await call(engine, agent, move);
    if (denial === null) {
      agent.state = next;
      return true;
    }
    if (condition.startsWith('teaching')) {
      if (!(await follow(engine, agent, denial, model))) return false;
    } else if (random() < 0.5) {
      // Without a reason, the agent repeats the call half of the time; otherwise it makes a random hop or mode change.
      if (!(await wander(engine, agent, random))) return false;
    } else if (random() < 0.3) return false;
  }
}

function countRefusal(agent: Inside): false {
  agent.calls += 1;
  agent.refused += 1;
  return false;
}

async function call(engine: Engine, agent: Inside, move: Move): Promise<Answer> {
  agent.calls += 1;
  const answer = await engine.answer(agent.state!, move);
  if (answer.denial !== null) agent.refused += 1;
  return answer;
}

/** Follows the remedy of a denial by one move. Returns false if there is none, or if the agent lapsed. */
async function follow(
  engine: Engine,
  agent: Inside,
  { code, way }: NonNullable<Answer['denial']>,
  { lapse, random }: Omit<Model, 'kind'>,
): Promise<boolean> {
  if (random() < lapse) return false;
  const state = agent.state!;
  const [leg] = way ?? [];
  const move = code === 'mode-forbids' ? modeMove(state) : leg && hopMove(leg);
  if (move === undefined) return false;
  const { denial, next } = await call(engine, agent, move);
  if (denial === null) agent.state = next;
  return denial === null;
}

/** Makes any listed move: a hop, or a change of the mode. Returns false if it was refused. */
async function wander(engine: Engine, agent: Inside, random: Model['random']): Promise<boolean> {
  const { hops, modes } = agent.state!;
  const moves: Move[] = [...hops.map(hopMove), ...modes.map((to) => ({ kind: 'mode' as const, to }))];
  const move = moves[Math.floor(random() * moves.length)];
  if (move === undefined) return false;
  const { denial, next } = await call(engine, agent, move);
  if (denial === null) agent.state = next;
  return denial === null;
}

const hopMove = ({ to, exit }: WayLeg): Move => ({ kind: 'hop', to, exit });

/** The mode change that leads towards acting. */
function modeMove({ mode, modes }: State): Move | undefined {
  const to = modes.find((one) => one !== mode && one !== 'discuss') ?? modes[0];
  return to === undefined ? undefined : { kind: 'mode', to };
}
