import { targetOfHopExit } from '../../../spec/names.ts';

/** Regular expressions (as text) for the words of a sentence that announces an exit: "I am now", "the tests", … */
const I = "(?:i|we)(?:'m| am|'re| are|'ve| have)?(?: now| currently| still| completely| totally| really| all)*";
const IT =
  '(?:it|this|that|everything|all|the (?:change|changes|fix|work|task|release|version|commit|code|feature|service|app|site))';
const BE = "(?: is| are|'s|'re| has been| have been| was| were| got)(?: now| all| finally| successfully| been)*";
const TESTS =
  '(?:(?:all|the|my|our|these|those|unit|integration|existing|new|of|\\d+) )*(?:tests?|specs?|test suite|suite|test run|checks)';
/** Excludes a verb with an object: "a test passes an argument" is not a result. */
const NO_OBJECT = '(?! (?:an?|the|its?|this|that|these|through|along|by|into)\\b)';
const STILL = '(?: now| all| still| also| again| finally| just| successfully)*';

const GREEN = `${TESTS}${STILL}(?: are| is| have| has)?${STILL} (?:pass|passes|passed|passing|green|succeed|succeeded)${NO_OBJECT}`;
const RESULT = '(?:the )?(?:test )?(?:result|verdict|outcome)(?: is|:)';
const SOME = '(?:\\d+|one|two|three|four|five|six|seven|eight|nine|ten|some|several|a few|many|a)';
const FOUND =
  '(?:found|located|identified|pinpointed) (?:it(?=[.,!:]|$)|(?:the |my |our |its )?(?:right |target |relevant |exact |actual |root )*(?:target|targets|file|files|place|spot|cause|culprit|bug|problem|function|module))';
/** The start of a sentence, where a report of one's own work needs no subject. */
const START = '^(?:(?:ok|okay|good|great|done|so|yes|now|finally|and)[,:]? )?';

/** By exit: patterns of phrases that mean the exit without naming it. Case is ignored. */
const PHRASES: { readonly [exit: string]: readonly string[] } = {
  'found-target': [
    `(?:i|we)(?:'ve| have)?(?: now| just| finally| also)* ${FOUND}`,
    `${START}${FOUND}`,
    'the target(?: file)? (?:is|was found|has been found|was located)',
  ],
  'ready-to-edit': [
    'ready (?:now )?(?:to|for) (?:edit(?:ing)?|(?:make|making) (?:the|this|a|my) (?:small )?(?:change|changes|edit|edits|fix)|fix (?:it|this|the)|change (?:it|this|the)|implement|(?:start|begin) editing)',
    '(?:i|we) can (?:now )?(?:start|begin) editing',
  ],
  'ready-to-commit': ['ready (?:now )?(?:to (?:commit|be committed)|for (?:a |the )?commit)'],
  'tests-pass': [GREEN, `everything${STILL} passes`],
  pass: [GREEN, `everything${STILL} passes`, `${RESULT} (?:a )?pass`],
  fail: [
    `${TESTS}${STILL} (?:do not|don't|does not|doesn't|did not|didn't|are not|aren't|is not|isn't) (?:yet )?(?:pass|passing|green|succeed)`,
    `${TESTS}${STILL}(?: are| is| have| has)?${STILL} (?:fail|fails|failed|failing|red|broken)`,
    `(?:there (?:is|are)|i (?:see|have|get)|we (?:see|have|get))${STILL} ${SOME} (?:failing tests?|tests? failing|failures?)`,
    `${RESULT} (?:a )?fail(?:ure)?`,
  ],
  flaky: [
    `(?:${TESTS}|(?:the )?(?:results?|runs?))${STILL}(?: are| is| seems?| looks?| appears?(?: to be)?)${STILL} (?:flaky|flakey|unstable|intermittent)`,
    `(?:there (?:is|are)|i (?:see|have|get|found)|we (?:see|have|get))${STILL} ${SOME} flaky (?:tests?|results?|runs?)`,
    `${RESULT} flaky`,
  ],
  blocked: [
    `${I} (?:blocked|stuck)`,
    '(?:the|this|my|our) (?:work|task|change|fix|deploy|deployment|release|edit) (?:is|remains|has been) (?:now )?(?:blocked|stuck)',
    '^(?:status: )?(?:blocked|stuck)(?= by| on|:|,|\\.|!| because|$| -| –| —)',
  ],
  deployed: [
    `(?:${IT}|(?:the|this) [\\w-]+)${BE} (?:deployed|shipped|live|released|pushed)`,
    `${I} (?:successfully |just )?(?:deployed|shipped|released|pushed)`,
    '^(?:committed and )?(?:successfully )?(?:deployed|shipped|released|pushed)(?= (?:to|it|the|this|and|successfully|with|as)\\b|[.,!:]|$)',
    `(?:deploy|deployment|release|push) (?:is |has |was )?(?:now )?(?:done|complete|completed|finished|succeeded|successful)`,
  ],
  'par-generated': [
    '(?:par|post-action review)(?: is| has been| was)?(?: now)? (?:generated|written|done|ready|complete|completed|finished)',
    '(?:generated|wrote|written|completed|finished) (?:the |a |my |our )?(?:par|post-action review)',
  ],
  'user-request': [
    "(?:the )?(?:user|operator)(?:'s)? (?:request|requests|requested|asked|asks|wants)",
    "(?:at|on|by) (?:the )?(?:user|operator)(?:'s)? request",
  ],
};

/** Exits that require all tests to pass. A sentence about only some tests does not name such an exit. */
export const EXITS_REQUIRING_ALL_TESTS: ReadonlySet<string> = new Set(['pass', 'tests-pass']);

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Words that may separate the words of an exit's name in a sentence. */
const BETWEEN = "(?:[ -](?:the|a|an|is|are|was|were|has|have|been|be|now|to be|'s))*[ -]";

/**
 * Patterns derived from the name of an exit: its words in order (`root-cause-found`: "the root cause is found"), or its
 * last word first ("found the root cause"). A name of one word must refer to the agent or the work, or be the whole
 * sentence.
 */
function derivedPatterns(exit: string): readonly string[] {
  const words = exit
    .split('-')
    .filter((word) => word !== '')
    .map(escapePattern);
  const [first = ''] = words;
  if (words.length === 1)
    return [`${I} ${first}`, `${IT}${BE} ${first}`, `^(?:status: |result: )?${first}(?=:|,|\\.|!|$)`];
  const last = words.at(-1) ?? '';
  const others = words.slice(0, -1);
  return [words.join(BETWEEN), `${last} (?:the |a |an |my |our )?${others.join('[ -]')}`];
}

const patterns = new Map<string, readonly RegExp[]>();

export function exitPhrases(exit: string): readonly RegExp[] {
  const cached = patterns.get(exit);
  if (cached) return cached;
  const table = Object.hasOwn(PHRASES, exit) ? (PHRASES[exit] ?? []) : [];
  const byName = `(?:take|taking|leave by|leaving by|choose|use|using) (?:the )?exit ${escapePattern(exit)}`;
  const sources = [byName, ...(targetOfHopExit(exit) !== null ? [] : table.length > 0 ? table : derivedPatterns(exit))];
  const compiled = sources.map((source) => new RegExp(`(?<![\\w-])${source}(?![\\w-])`, 'gi'));
  if (patterns.size < 1000) patterns.set(exit, compiled);
  return compiled;
}

const WORK = '(?:peripheral|phase|stage)';

/** The pattern of "ready to <peripheral>"; used only if no exit has that name. */
export const readyToEnterPattern = (to: string): RegExp =>
  new RegExp(
    `(?<![\\w-])ready (?:now )?(?:to|for) ${escapePattern(to).replaceAll('-', '[ -]')}(?= (?:it|this|the|that)\\b|[.,!:;]|$)`,
    'gi',
  );

/** Patterns for moving to a peripheral. "going to edit the file" is not a hop; only the verb `hop` suffices. */
export function hopPhrases(to: string): readonly RegExp[] {
  const target = `(?:the )?${escapePattern(to).replaceAll('-', '[ -]')}`;
  const sources = [
    `hop(?:ping)?(?: over| on| back| straight)? (?:in)?to ${target}`,
    `hop-${escapePattern(to)}`,
    `^hop(?::| ->| →| =>) ?${escapePattern(to)}`,
    `(?:move|moving|switch|switching|go|going|return|returning|proceed|proceeding|head|heading|get|getting)(?: over| on| back| straight)? (?:in)?to ${target} ${WORK}`,
    `(?:move|moving|switch|switching|return|returning|proceed|proceeding|transition|transitioning)(?: over| on| back| straight)? (?:in)?to ${target}(?= now$|[.,!:;]|$)`,
    `(?:enter|entering) (?:the )?${escapePattern(to)} ${WORK}`,
  ];
  return sources.map((source) => new RegExp(`(?<![\\w-])${source}(?![\\w-])`, 'gi'));
}
