import { type Fields, isEmptyJson, type Json } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';
import { targetOfHopExit } from '../../spec/names.ts';
import { joinList, toOneLine } from './language/format-words.ts';
import { describeShippingStep, type PossibleHop, readSituation, type SessionSituation } from './situation.ts';

export interface PromptOptions {
  /** The name of a tool in the agent's program. Default: its id. */
  readonly name?: (tool: string) => string;
}

/**
 * The prompt section for an agent on entry and after a compaction: its place, its context, its tools, its exits, the
 * closed tools, the mode and its permitted changes, and the remaining limits.
 */
export const promptSection = (session: Session, options: PromptOptions = {}): string =>
  describeSituation(readSituation(session), options);

/** Renders the prompt section from its data. */
function describeSituation(now: SessionSituation, { name = (tool) => tool }: PromptOptions = {}): string {
  const { location } = now;
  if (location.status === 'closed')
    return `# Where you are\nSession ${location.sessionId} is closed: no tool can be called in it any more. Its log is kept; a new session can be opened.`;
  const sections = [
    ['Where you are', describePlace(now)],
    ['What you see', describeContext(now)],
    ['What you can do', describeTools(now, name)],
    [location.peripheral === null ? 'What you can enter' : 'How you can leave', describeExits(now, name)],
    ['What is closed', describeClosedTools(now, name)],
    ['Mode and limits', describeModeAndLimits(now, name)],
  ] as const;
  return sections.flatMap(([title, lines]) => (lines.length > 0 ? [`# ${title}`, ...lines] : [])).join('\n');
}

type Naming = NonNullable<PromptOptions['name']>;

function describePlace({ location }: SessionSituation): readonly string[] {
  const { peripheral, purpose, visit, mode, sessionId, status } = location;
  const inMode = mode === null ? '' : `, in mode ${mode}`;
  if (peripheral === null)
    return [
      `Outside of any peripheral${inMode} (session ${sessionId}). No tools are available here: enter a peripheral.`,
    ];
  const over = {
    active: '',
    expired: ' The time limit of this visit is reached: only stop and hops are possible.',
    interrupted: ' The last step was interrupted; its outcome is unknown.',
    outside: '',
    closed: '',
  }[status];
  const again = visit !== null && visit > 1 ? `, visit ${visit}` : '';
  return [`In the peripheral "${peripheral}"${again}${inMode} (session ${sessionId}).${over} ${purpose}`];
}

const HIDDEN_FIELDS = new Set(['session-id', 'author', 'session-log', 'changed-files']);
const MAX_CHARS = 120;
const MAX_FILES = 8;
const MAX_EXITS = 40;
/** Maximum number of tools that are listed with their purpose; the model has the definitions of the others. */
const MAX_TOOLS = 12;
const MAX_NAMES = 60;

function describeContext({ sees: { context, changedFiles, backpack, observed } }: SessionSituation): readonly string[] {
  const lines = (fields: Fields) =>
    Object.entries(fields).flatMap(([field, value]) =>
      HIDDEN_FIELDS.has(field) || isEmptyJson(value) ? [] : [`${field} ${toOneLine(shortJson(value), MAX_CHARS)}`],
    );
  const carried = [...lines(context), ...lines(backpack)];
  const observedLines = lines(observed);
  return [
    ...(carried.length > 0 ? [`Carried in: ${joinList(carried, 8)}.`] : []),
    ...(changedFiles.length > 0
      ? [
          `Changed in this session: ${joinList(
            changedFiles.map((file) => toOneLine(file)),
            MAX_FILES,
          )}.`,
        ]
      : []),
    ...(observedLines.length > 0 ? [`Observed here so far: ${joinList(observedLines, 8)}.`] : []),
  ];
}

const shortJson = (value: Json): string =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? `[${joinList(value, 5)}]`
    : JSON.stringify(value);

function describeTools({ actions, scope, location }: SessionSituation, name: Naming): readonly string[] {
  if (location.peripheral === null) return [];
  const tools = actions
    .slice(0, MAX_TOOLS)
    .map(({ tool, usage, purpose }) => `- ${usage.replace(tool, name(tool))}: ${toOneLine(purpose, MAX_CHARS)}`);
  const further = actions.slice(MAX_TOOLS).map(({ tool }) => name(tool));
  if (further.length > 0) tools.push(`- also: ${joinList(further, MAX_NAMES)}`);
  const reach = scope
    ? [
        `Scope ${scope.name}: reads ${scope.reads}; writes ${scope.writes}; commands: ${scope.commands}; hosts: ${scope.urls}.`,
      ]
    : [];
  return tools.length > 0 ? [...tools, ...reach] : ['No tool can be called now.', ...reach];
}

/** Lists the exits; those to the same peripheral with the same needs share one line. */
function describeExits({ exits, ships, toState, location }: SessionSituation, name: Naming): readonly string[] {
  const groups = Map.groupBy(exits, ({ to, needs }) => JSON.stringify([to, needs]));
  const lines = [...groups.values()].flatMap((group) => {
    const [{ to, needs } = { to: '', needs: [] }] = group;
    const by = group.flatMap(({ exit }) => (exit === null ? [] : [exit]));
    const needed = needs.length > 0 ? ` (needs ${needs.join(', ')})` : '';
    return [`- ${to}${by.length > 0 ? `, by exit ${joinWithOr(by)}` : ''}${needed}`];
  });
  if (lines.length === 0)
    return [location.peripheral === null ? 'Nothing; only the operator can continue.' : 'No hop leads out.'];
  const easiest = easiestOf(exits);
  const stated = toState.map(({ field, type, optional, neededBy }) => {
    const needed = neededBy.length > 0 ? ` (needed to enter ${neededBy.join(', ')})` : '';
    return `${field}${optional ? '?' : ''}: ${typeof type === 'string' ? type : JSON.stringify(type)}${needed}`;
  });
  return [
    ...lines.slice(0, MAX_EXITS),
    ...(lines.length > MAX_EXITS ? [`- and ${lines.length - MAX_EXITS} more, which ${name('status')} lists`] : []),
    ...(easiest ? [`Example: ${name('hop')}(${JSON.stringify(easiest.call)}), with your own reason.`] : []),
    ...(stated.length > 0 ? [`State these fields as fruit: { ${stated.join(', ')} }.`] : []),
    ...ships.filter(({ via }) => via.length > 1).map((one) => `Further on: ${describeShippingStep(one)}.`),
  ];
}

/**
 * The exit that the example uses: one of the exits with the fewest needs. An exit `hop-…` is preferred, because it
 * claims no fact.
 */
function easiestOf(exits: readonly PossibleHop[]): PossibleHop | undefined {
  const least = Math.min(...exits.map(({ needs }) => needs.length));
  const easy = exits.filter(({ needs }) => needs.length === least);
  const way = easy.find(({ exit }) => exit !== null && targetOfHopExit(exit) === null) ?? easy[0];
  return easy.find(({ exit, to }) => to === way?.to && exit === `hop-${to}`) ?? way;
}

const joinWithOr = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

function describeClosedTools({ forbidden, location }: SessionSituation, name: Naming): readonly string[] {
  if (location.peripheral === null) return [];
  const { shut, absent, rules } = forbidden;
  return [
    ...(shut.length > 0 ? [`In this peripheral, but closed now: ${joinList(shut.map(name), 12)}.`] : []),
    ...(absent.length > 0
      ? [`Not in this peripheral: ${joinList(absent.map(name), 6)}. The refusal of a call names the path to the tool.`]
      : []),
    `Always: ${rules.join('; ')}.`,
  ];
}

function describeModeAndLimits({ modes, limits, location }: SessionSituation, name: Naming): readonly string[] {
  const change = modes.map(({ to, needs }) => `${to}${needs.length > 0 ? ` (needs ${needs.join(', ')})` : ''}`);
  const [next] = modes;
  const { steps, until } = limits;
  const remaining = [
    ...(steps ? [`${Math.max(0, steps.of - steps.used)} of ${steps.of} steps left`] : []),
    ...(until ? [`time until ${until}`] : []),
  ];
  return [
    ...(location.mode !== null && next
      ? [
          `From mode ${location.mode} to ${change.join(' or ')}: ${name('mode')}(${JSON.stringify({ to: next.to, reason: '…', ...(next.needs.includes('a summary') ? { summary: '…' } : {}) })}).`,
        ]
      : []),
    ...(remaining.length > 0 ? [`This visit: ${remaining.join(', ')}.`] : []),
  ];
}
