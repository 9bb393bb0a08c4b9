import { splitWords } from '../base/text.ts';
import type { ToolEffect } from '../spec/types.ts';

const list = (text: string): ReadonlySet<string> => new Set(splitWords(text));

/** Verbs of talk: their objects are said, awaited or agreed to, and no file changes. */
const COORDINATE = list(`
  acknowledge ack advise agree announce answer apologize apologise ask assume bear believe call carry chat choose claim clarify coordinate
  confirm consider decide describe discuss elaborate excuse expect explain forgive greet guess hear hold ignore imagine inform introduce join
  keep know let meet mention mind note notify own pause phone pick ping plan postpone propose prioritize prioritise promise realize recall
  relax remember remind rest reply respond say share sleep speak stand stay sync suggest talk tell thank think understand vote wait warn
  delegate dislike enjoy escalate hate love miss nudge cc loop assign volunteer brainstorm comment clap weigh welcome wonder worry
`);
/** Verbs that only look at things. */
const OBSERVE = list(`
  analyze analyse audit browse check compare count determine diagnose dig examine explore figure find grep identify inspect investigate
  list locate look measure profile read research review scan search see study summarize summarise trace verify view
`);
/** Verbs that change something. Listed to distinguish an order from a title: "Build is green". */
const ACT = list(`
  abort activate add adapt adjust allow amend append apply approve archive attach automate back backport benchmark bisect block build bump
  bundle cache cancel change checkout clean cleanup clear clone close collapse combine commit compile complete compress configure connect
  convert copy correct cover create cut deactivate debug decouple deduplicate define delete deploy deprecate disable do document downgrade
  download draft drop dump duplicate edit email empty enable encrypt ensure erase establish exclude execute expand export expose extend
  extract fetch fill finalize finish fix flatten flip flush force format free freeze generate get give go guard handle hardcode help hide
  hook implement import improve include increase indent index init initialize inline insert install instrument integrate invert issue kill
  launch lint link load lock log lower mail maintain make mark merge migrate minify mirror mock modify mount move mute narrow normalize
  open optimize order organize overwrite package paste patch perform pin polish populate port post prepare print proceed provide prune publish
  pull purge push put queue raise randomize rebase rebuild reconfigure record recreate redeploy redo reduce refactor refresh regenerate
  register reindex reinstall release reload relocate remove rename render renew reopen reorder repair repeat replace report reproduce rerun
  reschedule reset resize resolve restart restore restructure retire retry return reuse revert revoke rewrite roll rollback rotate round run
  sanitize save scaffold schedule scrub seal secure seed send separate serve set setup shift ship shorten show shrink shut sign silence
  simplify skip solve sort speed spin split squash stabilize stage start stash stop store straighten strip stub submit substitute supply swap switch
  synchronize tag take tear test throttle tidy tighten toggle touch track train translate trim truncate try turn tweak unblock undo uninstall
  unlock unify unpin update upgrade upload use validate vendor version whitelist widen wipe wire wrap write zip
`);

/** Words that are never the verb of a request. All other unknown words may be verbs. */
const NO_VERB = list(`
  a about above across after all almost also although always am an and any anybody anyone anything are as at aye be because been before behind
  being below beside besides between both but by can cannot could despite did does during each either enough even ever every everybody
  everyone everything except few for from given had half has have he hence her here his how i if in inside into is it its just last later
  least less like many may maybe me might mine more most much must my near neither never next no nobody none nope nor not nothing now of off
  often on once one only onto or other our ours out over own per perhaps plus quite rather same several shall she should since so some
  somebody someone something soon still such than that the their them then there therefore these they this those though three through thus to
  today together tomorrow tonight too toward two under unless unlike until up upon us usually versus very via was we were what whatever when
  where whether which while who whoever whole whom whose why will with within without would yeah yep yes yesterday yet you your yours
  broke came did found gave got knew lost made said saw sent thought told took went won wrote
  bravo cheers congrats correct done false good great hello hey hi nice ok okay right roger sorry sure thanks true welcome wow wrong
`);

/** The base form of a verb: `fixing` becomes `fix`, `cleaning` `clean`, `renaming` `rename`. */
export function baseVerbOf(word: string): string {
  if (effectAskedByVerb(word) !== null || !word.endsWith('ing') || word.length < 6) return word;
  const stem = word.slice(0, -3);
  const forms = [stem, `${stem}e`, stem.replace(/(.)\1$/, '$1')];
  return forms.find((form) => effectAskedByVerb(form) !== null) ?? stem;
}

/** The effect that a known verb asks for; null for other words. */
export function effectAskedByVerb(word: string): ToolEffect | null {
  const verb = /^(?:re|un|de)-/.test(word) ? word.slice(3) : word;
  if (COORDINATE.has(verb)) return 'coordinate';
  if (OBSERVE.has(verb)) return 'observe';
  const first = verb.split('-')[0]!;
  return ACT.has(verb) || ACT.has(verb.replaceAll('-', '')) || (first !== verb && ACT.has(first)) ? 'act' : null;
}

export const mayBeVerb = (word: string): boolean =>
  /^[a-z][a-z-]+$/.test(word) && !NO_VERB.has(word) && !/(?:ed|ing|ly|tion|ness|ss|s)$/.test(word);
