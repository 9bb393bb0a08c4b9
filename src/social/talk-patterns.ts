import type { ToolEffect } from '../spec/types.ts';
import { OWN_WORK_HEADING_PATTERN } from './clauses.ts';

/** A rule about one clause of a message. */
export interface TalkPattern {
  readonly id: string;
  readonly when: RegExp;
  /** The effect that the clause asks for. If absent, the group `rest` of the expression is the request itself. */
  readonly asks?: ToolEffect;
  /** True if the group `rest` is read as a clause of its own; otherwise its verb decides. */
  readonly open?: true;
}

const SOFT = String.raw`(?:please |maybe |perhaps |possibly |kindly |just |quickly |also |then |now |at least |still |somehow |briefly |again |go ahead and |start |begin |\w+ly )*`;
const DONE = String.raw`(?:fixed|added|changed|removed|deleted|updated|upgraded|renamed|replaced|moved|merged|deployed|released|rerun|run|rebuilt|rewritten|written|tested|documented|refactored|cleaned|bumped|reverted|restarted|installed|migrated|corrected|published|pushed|committed|closed|split|raised|lowered|implemented|converted|disabled|enabled|checked|reviewed|regenerated|translated|gone|done|archived|patched|extended|simplified|shipped|sorted out|\w+ed)`;
/** Words for the wanted state of a thing: "the tests should be green". */
const STATE = String.raw`(?:green|passing|clean|empty|up to date|in sync|up and running|working|ready|consistent|deterministic|gone|offline|online|public|private)(?=$|[.,!?]| (?:by|before|until|when|again|now|with|first|today|tomorrow)\b)`;

interface Patterns {
  readonly [id: string]: RegExp;
}
const opening = (patterns: Patterns) =>
  Object.entries(patterns).map(([id, when]) => ({ id, when, open: true as const }));
const requesting = (patterns: Patterns) => Object.entries(patterns).map(([id, when]) => ({ id, when }));
const asking = (asks: ToolEffect, patterns: Patterns) => requesting(patterns).map((each) => ({ ...each, asks }));

/** A regular expression that contains other expressions as texts. */
const pattern = (...parts: Parameters<typeof String.raw>): RegExp => new RegExp(String.raw(...parts));

/**
 * Patterns of requests in words, the most reliable first. The first pattern that matches a clause decides it; the
 * clause with the strongest effect decides the message. A clause without a pattern is an order if it begins with a
 * verb.
 */
export const TALK_PATTERNS: readonly TalkPattern[] = [
  // Introductory phrases that change nothing in the request.
  ...opening({
    addressed: /^@[\w/.-]+[,:]?\s+(?<rest>.+)$/,
    greeted: /^(?:hi|hey|hello|dear|yo|good (?:morning|afternoon|evening))(?: (?!there'?s)[\w-]+)?[,!]\s+(?<rest>.+)$/,
    'greeted-without-comma': /^(?:hi|hey|hello|yo)(?: [\w-]+)? (?<rest>(?:can|could|would|will|please|let's)\b.+)$/,
  }),
  // In irony, the sentence asks for the opposite of its words.
  ...asking('coordinate', {
    ironic:
      /\bwhat could (?:possibly )?go wrong\b|^(?:(?:oh|wow|yeah|ah),? )?(?:great|wonderful|fantastic|lovely|brilliant|perfect|nice|yay|right)[,!:]? (?:(?:yet )?another|one more|because)\b/,
  }),
  ...opening({
    'acknowledged-first':
      /^(?:ok(?:ay)?|yes|yeah|yep|no|nope|sure|thanks|thank you|lgtm|approved|granted|confirmed|accepted|agreed|great|good|nice|nice work|cool|right|well|alright|fine|perfect|awesome|sorry|look|listen|hm+|oh|ah|unblock me|help me)[,!:]\s+(?<rest>.+)$/,
    'acknowledged-without-comma':
      /^(?:ok(?:ay)?|yes|yeah|yep|sure|fine|alright) (?<rest>(?:(?:please|now|then|just|so|let's) )*(?!got\b)[a-z]+ (?:it|that|this|these|those|them|the|a|an|all|my|our|your|ahead)\b.*)$/,
    'in-order':
      /^(?:just|simply|and|but|so|or|then|also|next|now|first|firstly|second|secondly|third|finally|lastly|otherwise|instead|meanwhile|later|afterwards|again|after that|this time|in addition|additionally|by the way|btw|in the meantime|from now on|while you'?re at it|when you get a (?:minute|chance|moment)|when you have (?:time|a minute|a moment)|if you (?:can|could|have time|get a chance|don'?t mind)|as soon as possible|asap|urgent|quick(?: favou?r)?|right away|immediately),?\s+(?<rest>(?!question|note|heads|update|reminder|thought|poll|fyi|is |are |was |were |has |have |had |it )\S.+)$/,
    'name-and-comma':
      /^(?!(?:please|today|tomorrow|yesterday|so|well|tests?|docs?|here|there|status|eta)\b)[a-z][\w-]*,\s+(?<rest>(?:please|can|could|would|will|you (?!broke\b|forgot\b|missed\b|have\b|did\b)|do|don't|let|make|are|is|did|have|what|when|why|how|which|who|[a-z]+ (?:the|a|an|it|this|that|them|all|my|our|your)\b).*)$/,
    'condition-first':
      /^(?:if|when|whenever|once|after|before|as soon as|until|unless|while|in case|since|because|given that|assuming|provided|as) [^,]+,\s*(?:then )?(?<rest>.+)$/,
    'time-first':
      /^(?:by|on|at|for|in|to|with|from|instead of|rather than|besides|apart from) [^,]{2,60},\s*(?<rest>.+)$/,
  }),
  ...asking('coordinate', {
    'label-of-work':
      /^(?:task|todo|to do|to-do|action item|action|request|order|job|your (?:task|job|mission|goal)(?: is)?)$/,
  }),
  ...requesting({
    'your-job':
      /^(?:your|the|our) (?:task|job|mission|goal|next step) (?:is|will be|would be)(?: now)? to (?<rest>.+)$/,
    'time-to': /^(?:it'?s |it is )?(?:high )?time to (?<rest>.+)$/,
    'have-somebody':
      /^(?:please )?(?:have|get) (?:someone|somebody|one of you|one of them) (?:to )?(?<rest>[a-z]+ .+)$/,
  }),
  ...asking('coordinate', { 'copy-that': /^(?:copy|roger) that[.!]*$/ }),
  // Polite phrases that introduce a request.
  ...asking('coordinate', {
    'thanks-only':
      /^(?:many |big )?(?:thanks|thank you|ty|cheers|kudos|congrats|congratulations|kind regards|best regards|regards|bye|see you|welcome|good (?:morning|night|evening|luck|job|point|idea|question)|danke)\b(?!.*\b(?:for (?:fix|look|check|add|run)ing .* (?:by|before|asap)))/,
    'keep-informed':
      /^(?:please )?(?:let (?:me|us|him|her|them|[a-z]+) know|keep (?:me|us|\w+) (?:posted|updated|informed|in the loop)|get back to (?:me|us)|give (?:me|us) (?:a |an |the |your |some )?(?:ping|shout|call|status|update|eta|feedback|heads|moment|minute|second|sec|few|hint|time|thumbs|opinion|answer|reason|number|estimate)|send (?:me|us) (?:a |an |the |your )?(?:status|update|eta|message|note|ping)|report (?:back|to|when|if)|(?:get|be) in touch|take (?:your time|care(?! of)|a break|note|over)|take it from here|take that one|leave (?:me |us )?(?:a |your )?(?:note|message)|never ?mind|go on|keep (?:going|away|it up|up|in mind|calm|quiet)|go ahead without|hang on|hold (?:on|off)|stand (?:by|down)|sit tight|stay (?:out|away|tuned|off)|back off|back me up|heads up|make sense|make up your mind|leave (?:it|that|this) (?:to|with) me|count me in|move on|go first|go to sleep|start without me|get well|got it|(?:yes|no|ok|sure),? please[.!]*$)(?![\w'])/,
  }),
  ...requesting({
    'do-not-forget':
      /^(?:please )?(?:(?:do not|don't|never) (?:forget|neglect|omit|fail|hesitate)|remember) to (?<rest>(?!be\b).+)$/,
  }),
  ...opening({
    'not-just': /^(?:please )?(?:do not|don't) (?:just|only) [^,]+,\s*(?:but )?(?<rest>.+)$/,
    'forbidden-then-asked':
      /^(?:please )?(?:do not|don't|never|avoid|leave|stop) [^,]+,\s*(?:but |just |instead |rather )+(?<rest>.+)$/,
  }),
  ...asking('coordinate', {
    forbidden:
      /^(?:please )?(?:do not|don't|never|avoid|refrain|no need|there's no need|there is no need|nobody|no one|you (?:must|should|may|can|need|shall) ?n[o']t|you (?:don't|do not) (?:need|have) to|you mustn't|you shouldn't|you can't|not yet|nothing to do|no (?:more )?\w+ing)\b/,
    'stop-doing': /^(?:please )?(?:stop|quit|cease|pause|finish) \w+ing\b/,
    'leave-alone':
      /^(?:please )?leave .+\b(?:alone|as (?:it is|is|they are)|untouched|to me|for (?:now|me|later|tomorrow))\b/,
    'can-you-hear':
      /^(?:can|could) you (?:hear|see me|read me|believe|imagine|make it|come|attend|stay|wait|help me (?:understand|see|decide|choose)|relate|guess)\b/,
    'you-or-me': /^(?:will|can|could|would|do|should) you\b.*\bor (?:shall|should|will|do|can|may) (?:i|we)\b/,
  }),
  ...opening({
    'opinion-that-you-should':
      /^(?:i|we) (?:think|believe|suggest|propose|feel|guess|reckon|recommend)(?: that)? (?<rest>you (?:should|must|need to|have to|ought to) .+)$/,
  }),
  ...asking('coordinate', {
    'some-time': /^(?:please )?give (?:me|us) (?:\S+ ){0,2}(?:seconds?|minutes?|hours?|days?|moments?)\b/,
  }),
  ...requesting({
    'could-you': pattern`^(?:please,? )?(?:can|could|would|will|won't|can't|couldn't|wouldn't|may|might) (?:you(?: two| all| guys)?|someone|somebody|anyone|anybody|one of you|we|y'all) ${SOFT}(?:be so kind (?:as )?to |like to |be able to |have time to |have a chance to |try to |help me |help us |help )?(?<rest>(?!if\b|that\b|mind\b|prefer\b|say\b|recommend\b|rather\b|not\b|work\b|be\b|have (?:a )?(?:time|objections?|call)\b).+)$`,
    'would-you-mind': /^(?:(?:would|do) you mind|mind) (?:\w+ly )?(?<rest>\w+ing\b.+)$/,
    'i-wonder-if-you':
      /\b(?:wonder(?:ing)?|hoping|hope|appreciate it|grateful|thankful|great|good|nice|helpful|awesome|lovely|cool|perfect|happy|glad|best|better|chance|possible for you|makes? sense)\b,? ?(?:if|whether|that|for)? ?you (?:could|can|would|to|might) (?:please |perhaps |maybe |also |just )*(?<rest>.+)$/,
    'appreciate-if-you': /\b(?:appreciate|love|like) it if (?:you|someone) (?:could |would )?(?<rest>.+)$/,
    'would-be-possible-to':
      /^(?:would it be|is it|is there a way|any chance)(?: at all)?(?: possible| feasible| ok(?:ay)?)? to (?<rest>.+)$/,
    'are-you-able-to':
      /^(?:are you (?:able|willing|ready|up)|do you have (?:time|capacity|a moment|a minute|bandwidth)|have you got time) to (?<rest>.+)$/,
    'how-about-doing': /^(?:how|what) about (?:(?:you |we )?(?=\w+ing\b)|you (?:just |first )*)(?<rest>\w+ .+)$/,
    'why-not-do':
      /^why (?:(?:don't|do not) (?:you|we)|not(?: you| we)?) (?:just |simply |first |also )*(?<rest>\w+ .+)$/,
    allowed:
      /^(?:feel free to|(?:please )?go ahead and|go ahead,?(?: and)?|(?:you can|you may|you're free to|you are free to)(?: now| then| safely| also)?) (?<rest>(?!find\b|see\b|reach\b|ask\b|tell\b|read\b|without\b|alone\b).+)$/,
    told: /^(?:i|we) (?:really |just |also |still )*(?:need|want|would like|'d like|ask|asked|expect|require|order|beg|urge|count on|rely on)(?:ed)? (?:you|someone|somebody)(?: all| guys)? to (?<rest>.+)$/,
    'id-like-you':
      /^(?:i'd|we'd) (?:like|love|want|prefer|ask) (?:(?:for )?you to|(?:that|if) you(?: could| would)?) (?<rest>.+)$/,
    'you-should': pattern`^you (?:should|must|need to|have to|ought to|shall|will|'ll|had better|better|are to|'re to|gotta|might want to|may want to|could|can) ${SOFT}(?<rest>(?!know\b|be\b|see\b|find\b|notice\b|get\b|have\b|understand\b|like\b|hear\b|expect\b|remember\b|receive\b).+)$`,
  }),
  ...asking('coordinate', {
    'make-sure':
      /^(?:please )?(?:make sure|ensure|see to it|be sure|be careful|be kind enough|take care)(?: that)? (?:you (?:do not|don't|never)|not to|nobody|no one)\b/,
  }),
  ...asking('act', {
    'make-certain': /^(?:please )?(?:make (?:sure|certain)|ensure|see to it|be sure)\b/,
    'do-action':
      /^(?:please )?(?:do|have) (?:the|a|an|it|this|that|these|those|some|another|all|both|my|your|so)\b(?! (?:you|we|they|i|tests? (?:pass|fail)|\w+ (?:work|pass|fail|run|need|have|look|agree|exist|know|use|mean|matter|want)\b))/,
  }),
  ...requesting({
    'do-help': /^do (?<rest>(?:fix|add|run|check|make|use|remove|update|try|include|keep|write|test|read|look)\b.+)$/,
  }),
  ...asking('coordinate', { 'shall-we': /^(?:shall|should|can|could) (?:i|we)\b/ }),
  ...requesting({
    lets: /^(?:let's|let us) (?:not\b|(?:just |please |now |first |quickly |all |also )*(?<rest>.+))$/,
    'let-something': /^let (?:the|a|an|it|this|that|these|those|them|him|her) (?<rest>\w+.*)$/,
  }),
  ...asking('coordinate', { 'let-me': /^let (?:me|us|\w+)\b/ }),
  // Wishes about the state of a thing.
  ...asking('act', {
    'announced-wish': /^(?:here is|here's|this is|that is|that's) what (?:i|we|they) (?:want|need|ask)/,
  }),
  ...asking('coordinate', {
    meeting:
      /^(?:schedule|set up|arrange|book|organi[sz]e|start|join|cancel|move|postpone) (?:a|an|the|our|this|another) (?:\w+ )?(?:meeting|call|sync|chat|standup|retro|review session|session|slot|discussion|thread|poll|vote)\b/,
    'who-does-it':
      /^(?:please )?(?:take (?:over|on|the lead|this one|that one|(?:ticket|issue|task)\b|#\d)|pick up|hand (?:it|this|that|over|off|the)|pass (?:it|this|that) (?:on )?to|swap with|switch with)\b(?!.* (?:and|,) (?:fix|split|move|make|finish|push|rewrite))/,
  }),
  ...asking('act', {
    'wanted-done': pattern`^(?:(?:i|we|they|ops|the (?:user|customer|client|operator|boss|team)) )?(?:really |just |also |still )*(?:need|want|would like|'d like|require|expect)s? (?!to\b|you to know\b)(?:.+ )(?:${DONE}\b|${STATE})`,
    'nice-if-somebody':
      /^(?:it'd |it would |would )be (?:\w+ )?(?:nice|great|good|cool|helpful|lovely|awesome|best|better) if (?:you|someone|somebody|anyone|anybody) (?:could |would )?(?!was\b|were\b|is\b|are\b|came\b|knew\b|joined\b|told\b)\w/,
    'nice-to-have-done': pattern`^(?:it'd|it would|would) be (?:really |so |very )?(?:nice|great|good|cool|helpful|lovely|awesome|best|better) to (?:have|see|get) (?:.+ )(?:${DONE}\b|${STATE})`,
    'id-like-done': pattern`^(?:i'd|we'd) (?:like|love|want|prefer) (?:to (?:see|have|get) )?(?!to\b)(?:.+ )(?:${DONE}\b|${STATE})`,
    'appreciate-a-thing':
      /^(?:i'd|we'd|i would|we would) (?:\w+ly )?appreciate (?:a|an|some)(?! (?:\w+ )?(?:answer|reply|response|call|comment|estimate|hint|heads|opinion|explanation|word|feedback|advice|help|message|ping|update|vote))\b/,
  }),
  ...asking('coordinate', { 'own-list': OWN_WORK_HEADING_PATTERN }),
  ...asking('act', {
    'want-a-thing':
      /^(?:i|we) (?:really |just |also )*(?:want|would like|need)(?: (?:a|an|another|one|some|two|three|the)) (?:new )?(?:\w+ )?(?:script|test|fix|patch|migration|file|function|page|report|branch|feature|build|release|job|check|commit|endpoint|button|table|version|class|module|option|flag|rewrite|cleanup|dashboard|pr|pull request|hotfix|backup|index)\b/,
    'needs-doing':
      /^(?!(?:what|which|who|how|when|where|why)\b).*\b(?:needs?|wants?|requires?|deserves?) (?:some |a )?(?:fixing|adding|removing|updating|cleaning|renaming|refactoring|testing|documenting|deploying|rebuilding|rewriting|replacing|fix|cleanup|clean-up|refactor|rewrite|update|upgrade|patch|rebase|restart|bump|tests?)\b(?! (?:before|to get) i\b)/,
    'must-be-done': pattern`^(?!(?:i|he|she|what|which|who|how|when|where|why|according|the (?:docs?|manual|spec|policy|readme|standard|law) says?|bob|ann)\b).*\b(?:needs? to|has to|have to|must|should|ought to|shall) be (?!(?:\w+ )*(?:now|already|ready)\b)(?:\w+ly )?(?:${DONE}|blue|red|green|bold|larger|smaller|faster|longer|shorter|\d\S*|called|named|private|public|const|async|optional|required)\b(?! (?:now|already|by now)\b)`,
    'please-at-the-end':
      /^(?!.*\b(?:status|eta|update|answer|opinion|feedback|patience|moment|minute|second|wait|know|tell|confirm|call|explain|ping|quiet|reply|silence|attention|thoughts|numbers)\b)(?!(?:who|what|when|where|why|how|which|i|we)\b).+,? please[.!]*$/,
    gone: /\bcan (?:go|be (?:deleted|removed|dropped|merged|closed|killed|wiped|purged|erased|archived|torn down|thrown (?:away|out)))\b(?!.*\?)|\b(?:has|have|needs?) to (?:go|change|disappear)(?: now| today)?[.!]*$/,
    'could-it-be-done': pattern`^(?:could|would|can) (?!i\b|it be that\b|you\b).+ be (?:\w+ly )?${DONE}\b(?:.*\bplease\b|(?<=^could .*))`,
  }),
  ...asking('coordinate', {
    'forbidden-in-another-language':
      /^(?:bitte|(?:kann|könn|würd)(?:st|test|et|test) (?:du|ihr)|\p{L}+ (?:mal|bitte|doch)|lass)\b.*\b(?:nichts?|keine?[nmrs]?|warten?|sagen|erklären)\b/u,
  }),
  ...asking('act', {
    'asked-in-another-language':
      /^(?:(?:kannst|könntest|würdest) du|(?:könnt|könntet|würdet) ihr|(?:können|könnten|würden) sie|peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|puedes|podrías|puoi|potresti)(?=\s)|^\p{L}+ (?:mal bitte|bitte mal|mal|bitte|doch)(?=\s)/u,
    'another-language': /^(?:bitte|por favor|s'il (?:te|vous) pla[iî]t|per favore|proszę|пожалуйста)\b/,
  }),
  ...opening({ 'label-please': /^(?:please|kindly),? (?<rest>.+)$/ }),
  // Questions and statements ask for no action.
  ...asking('coordinate', {
    'question-word':
      /^(?:who|what|when|where|why|which|whose|whom|how|wer|was ist|wann|wo|warum|welche)(?:'s|'re|'d|'ll)?\b/,
    'question-of-fact':
      /^(?:is|are|was|were|am|do|does|did|has|had|will|would|could|can|may|might|must|isn't|aren't|doesn't|didn't|hasn't|won't|any (?:news|update|updates|luck|idea|ideas|objections?|blockers?|thoughts|questions?|progress|eta|reason|concerns?|volunteers?|preferences?))\b(?! not)/,
    'have-you': /^have (?:you|we|they|i|any|all)\b/,
    'own-doing': /^(?:i|we|he|she|they|it|that|this|there|those|these|you)(?:'m|'ve|'ll|'re|'d|'s)?\b/,
    'label-of-talk':
      /^(?:fyi|note|nb|info|report|results|bug|error|warning|status|standup|reminder|heads[ -]?up|update|question|quick question|blocked|blocker|my (?:guess|vote|plan|view|opinion)|agenda|summary|context|background|wip|poll|proposal|idea|done|answer|re|vote|announcement)(?:$|\b(?=[,]))/,
  }),
  // A shell command.
  ...asking('act', {
    'command-line':
      /^\$ \S|^(?:sudo |time )?(?:npm (?:run|ci|i\b|install|test|publish|audit|start|exec)|npx|yarn \w+|pnpm \w+|git (?:push|pull|commit|add|rebase|merge|reset|checkout|clone|stash|revert|tag|clean|rm|mv|branch|fetch|switch|restore)|rm (?:-|\S+\/|\S+\.)|mv \S+ \S+$|cp \S+ \S+$|mkdir \S|chmod \S|chown \S|curl \S|wget \S|docker \w+|kubectl \w+|terraform \w+|cargo \w+|go (?:build|test|run|get)|pip3? install|pytest|python3? \S+\.py|node \S+|make \w+$|sed -|psql -|apt(?:-get)? \w+|brew \w+|systemctl \w+|\.\/\S+)(?!.*\b(?:is|are|was|were|fails|failed|says|hangs|works|takes|broke)\b)/,
  }),
];
