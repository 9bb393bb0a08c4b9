import { fieldsOf } from '../../../base/json.ts';
import { excerpt, plural } from '../../../base/text.ts';
import { toBody } from '../../../evidence/bodies.ts';
import { type Par, readReviewInEntry } from '../../../evidence/patterns/par.ts';
import {
  type PatternStatistics,
  type RecurringReviewText,
  type ReviewSummary,
  summariseReviews,
} from '../../../evidence/patterns/summarise-reviews.ts';
import { chooseSessions } from '../../choose-sessions.ts';
import type { CliCommand } from '../../cli-command.ts';
import { formatHeading, type Io, printResult, usageError } from '../../io.ts';
import { withEvidence } from '../../open-store.ts';
import { resolveRootOption, rootOption, wholeNumberParser } from '../../shared-options.ts';
import { formatTable } from '../../table.ts';

interface Options {
  readonly root: string;
  readonly since?: string;
  readonly propose?: true;
  readonly least: number;
}

export function configureCommand(command: CliCommand, io: Io): void {
  command
    .description(
      'Sums up the post-action reviews (PAR) of sessions: problems that recur, and patterns that helped. A session writes a review each time it leaves the peripheral reflect.',
    )
    .argument('[session...]', 'the ids of the sessions, or their first characters (default: all sessions)')
    .addOption(rootOption())
    .option('--since <when>', 'only reviews since a date, or since an age such as 90m, 24h, 7d, 2w')
    .option(
      '--propose',
      'propose changes of the specs, with the proof of the properties and the replay of the sessions; exit code 1 if a change breaks a property',
    )
    .option('--least <n>', 'with --propose: in how many reviews a problem must occur', wholeNumberParser(1000, 1), 2)
    .examples('hopgate par', 'hopgate par --since 7d', 'hopgate par --propose', 'hopgate par s-4f1c --json')
    .action((sessions: readonly string[], options: Options) => par(io, sessions, options));
}

async function par(io: Io, ids: readonly string[], options: Options): Promise<void> {
  const root = resolveRootOption(io, options);
  const since = options.since === undefined ? Number.NEGATIVE_INFINITY : timeOf(options.since, Date.now());
  const pars = await withEvidence<readonly Par[] | null>(root, io.env, [], async (store) => {
    const reviews: Par[] = [];
    const refusedIn = new Map<string, Set<string>>();
    const sessions = (await chooseSessions(store, ids)).filter(({ lastAt }) => Date.parse(lastAt) >= since);
    for (const { sessionId } of sessions) {
      for await (const stored of store.entries(sessionId)) {
        const review = Date.parse(stored.entry.at) < since ? null : readReviewInEntry(stored);
        if (review) reviews.push(review);
        const { peripheral } = stored.entry;
        const body = toBody(stored.entry.body);
        if (peripheral === null || body?.event !== 'denial' || body.code !== 'tool-not-allowed') continue;
        const tool = String(fieldsOf(body.request)['tool']);
        refusedIn.set(tool, (refusedIn.get(tool) ?? new Set()).add(peripheral));
      }
    }
    if (!options.propose) return reviews;
    const { printProposals } = await import('./propose.ts');
    const reviewed = new Set(reviews.map((review) => review['session/id']));
    const own = sessions.filter(({ sessionId }) => reviewed.has(sessionId));
    await printProposals(io, root, reviews, { store, sessions: own, least: options.least, refusedIn });
    return null;
  });
  if (pars === null) return;
  const sum = summariseReviews(pars);
  const none = 'No reviews yet: a session writes one when it leaves the peripheral reflect.';
  printResult(io, sum, sum.reviews === 0 ? none : describeAggregate(io, sum));
}

const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** Converts a date (`2026-01-31`), or an age before now (`7d`), to epoch milliseconds. */
function timeOf(when: string, now: number): number {
  const [, count, unit = ''] = /^(\d+)([mhdw])$/.exec(when) ?? [];
  const at = count === undefined ? Date.parse(when) : now - Number(count) * UNITS[unit]!;
  if (Number.isNaN(at))
    throw usageError(`"${when}" is not a time`, 'Give a date, such as 2026-01-31, or an age: 90m, 24h, 7d, 2w.');
  return at;
}

const WIDTH = 120;
const MAX_ROWS = 15;

function describeAggregate(io: Io, { reviews, wrong, well, suggestions, patterns }: ReviewSummary): string {
  const list = (title: string, items: readonly RecurringReviewText[]) =>
    items.length === 0
      ? []
      : [
          formatHeading(io, title),
          formatTable(
            io,
            ['reviews', 'times', 'what'],
            items
              .slice(0, MAX_ROWS)
              .map(({ text, times, reviews: count }) => [`${count}`, `${times}`, excerpt(text, WIDTH)]),
          ),
          '',
        ];
  return [
    plural(reviews, 'review'),
    '',
    ...list('Recurring problems', wrong),
    ...(patterns.length === 0 ? [] : [formatHeading(io, 'Helpful patterns'), patternTable(io, patterns), '']),
    ...list('Successes', well),
    ...list('Suggestions', suggestions),
  ]
    .join('\n')
    .trimEnd();
}

function patternTable(io: Io, patterns: readonly PatternStatistics[]): string {
  const rows = patterns.map(({ pattern, selected, inferred, outcomes, held, errorsWith, errorsWithout }) => [
    pattern,
    `${selected}`,
    `${inferred}`,
    Object.entries(outcomes)
      .flatMap(([outcome, times]) => (times > 0 ? [`${times} ${outcome}`] : []))
      .join(', ') || '-',
    held === null ? '-' : `${Math.round(held * 100)} %`,
    `${errorsWith}`,
    errorsWithout === null ? '-' : `${errorsWithout}`,
  ]);
  return formatTable(io, ['pattern', 'selected', 'seen', 'outcomes', 'held', 'errors with', 'without'], rows);
}
