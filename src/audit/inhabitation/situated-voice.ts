import { fieldsOf } from '../../base/json.ts';
import { plural } from '../../base/text.ts';
import type { SpecSet } from '../../spec/types.ts';
import { mentionsName } from './context-injection.ts';
import { type DemandResult, failDemand, INHABITATION_DEMANDS, inapplicableDemand } from './inhabitation-demands.ts';
import type { SessionTimeline } from './session-timeline.ts';

/** P-5 holds if the score is above this number. */
const INHABITED_SCORE = 0.5;

const FIRST_PERSON = /\b(?:I|I'm|I'll|I've|I'd|me|my|mine|myself|we|our|let me|let's)\b/i;

/**
 * Judges P-5, a heuristic for English texts. Half of the score is given for a hop or change of mode by the agent. A
 * quarter is the share of its texts in the first person; a quarter is the share that names its place, tools, exits or
 * modes.
 */
export function judgeSituatedVoice({ specs, transcript, calls, acts }: SessionTimeline): DemandResult {
  if (acts.length === 0 && calls.length === 0) return inapplicableDemand('P-5', 'nothing was done');
  const moves = calls.filter(({ item }) => item.tool === 'hop' || item.tool === 'mode');
  const reasons = moves.flatMap(({ item }) => {
    const { reason, summary } = fieldsOf(item.input);
    return [reason, summary].filter((text): text is string => typeof text === 'string' && text.trim() !== '');
  });
  const messages = transcript.items.flatMap((item) =>
    item.kind === 'said' && item.text.trim() !== '' ? [item.text] : [],
  );
  const words = [...messages, ...reasons];
  const share = (holds: (text: string) => boolean): number =>
    words.length === 0 ? 0 : words.filter(holds).length / words.length;
  const names = namesOf(specs);
  const voice = share((text) => FIRST_PERSON.test(text));
  const situated = share((text) => [...names.own, ...names.tools].some((name) => mentionsName(text, name)));
  const moved = moves.some(({ result }) => result?.status === 'ok');
  const score = Math.round((Number(moved) / 2 + (voice + situated) / 4) * 100) / 100;
  const holds = words.length > 0 && score > INHABITED_SCORE;
  const reason =
    words.length === 0
      ? 'the agent wrote no words'
      : `${plural(words.length, 'utterance')}: ${percent(voice)} in the first person, ${percent(situated)} with names of the spec; ${moved ? 'the agent hopped or changed its mode' : 'no hop or change of mode by the agent succeeded'}`;
  return {
    id: 'P-5',
    title: INHABITATION_DEMANDS['P-5'],
    verdict: holds ? 'holds' : 'fails',
    findings: holds ? [] : [failDemand(reason)],
    score,
  };
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The names of peripherals, exits and modes in a spec set, and the names of its tools. */
function namesOf(specs: SpecSet): { readonly own: readonly string[]; readonly tools: readonly string[] } {
  const peripherals = Object.values(specs.peripherals);
  const exits = peripherals.flatMap((peripheral) => peripheral.exits.map(({ name }) => name));
  const modes = specs.modeGate ? Object.keys(specs.modeGate.effects) : [];
  const own = [...peripherals.map(({ id }) => id), ...exits, ...modes, 'peripheral', 'hop', 'operator'];
  return { own: [...new Set(own)], tools: Object.keys(specs.tools) };
}
