import { MODES } from '../spec/types.ts';
import type { Available, Denial, DenialCode, WayLeg } from './denial.ts';

type About = Denial['about'];
interface Words {
  readonly message: string;
  readonly remedy: string;
}

/** A list as people read it; `nothing` when it is empty. */
const list = (items: unknown): string => (Array.isArray(items) && items.length > 0 ? items.join(', ') : 'nothing');

/** The tools that can be called here; where a mode keeps them all shut, the way out of it. */
const openHere = (available: Available): string =>
  `${list(available.tools)}${available.tools.length === 0 && available.mode !== null && available.modes.length > 0 ? ` in mode ${available.mode} (${modesIn(available)})` : ''}`;

/** One leg of a way: `hop edit --exit ready-to-edit (needs approval by operator)`. */
export function describeLeg({ from, exit, to, needs }: WayLeg): string {
  const act = from === null ? `start ${to}` : `hop to ${to} with exit ${exit}`;
  return needs.length > 0 ? `${act} (needs: ${needs.join('; ')})` : act;
}

/** A way through the hop graph, as one clause. */
export function describeWay(way: readonly WayLeg[]): string {
  return way.map(describeLeg).join(', then ');
}

const didYouMean = (about: About): string => (about['suggestion'] ? `did you mean ${about['suggestion']}? ` : '');

/** A hop from here that is well formed, as it is written; one that needs nothing, if there is one. */
function exampleHop({ hops }: Available): string {
  const leg = hops.find(({ needs }) => needs.length === 0) ?? hops[0];
  if (!leg) return '';
  const { to, exit } = leg;
  return `write ${JSON.stringify({ to, ...(exit === null ? {} : { exit }), reason: '…' })}; `;
}

const hereIs = ({ peripheral }: Available): string =>
  peripheral === null ? 'outside of any peripheral' : `in ${peripheral}`;

const onward = (available: Available): string => {
  if (available.hops.length === 0) return 'nothing can be entered from here';
  return `from here: ${available.hops.map(describeLeg).join(' | ')}`;
};

const throughWay = (way: readonly WayLeg[] | null, otherwise: string): string =>
  way && way.length > 0 ? `shortest lawful way: ${describeWay(way)}` : otherwise;

const modesIn = ({ mode, modes }: Available): string =>
  mode === null
    ? 'this spec set has no mode gate'
    : `from ${mode}: ${modes.map(({ to, needs }) => (needs.length > 0 ? `${to} (needs: ${needs.join('; ')})` : to)).join(' | ') || 'nowhere'}`;

/**
 * All wording of refusals stands here: for each code, what is wrong and what to do next. The remedy always names something that can be done.
 */
export function describeDenial(
  code: DenialCode,
  about: About,
  available: Available,
  way: readonly WayLeg[] | null,
): Words {
  const { tool, argument, value, why, from, to, exit, mode, limit, peripheral } = about;
  switch (code) {
    case 'unknown-tool':
      if (about['unserved'])
        return {
          message: `there is no tool "${tool}" that a backend serves`,
          remedy: about['upstream']
            ? `do without it; the operator names the MCP server ${about['upstream']} under upstream in hopgate.yaml and accepts the file ("hopgate trust"), and opens a new session`
            : 'do without it; only the operator can open a session with a backend that serves it',
        };
      return {
        message: tool === '' ? 'the call names no tool' : `there is no tool "${tool}"`,
        remedy: `${didYouMean(about)}available ${hereIs(available)}: ${openHere(available)}`,
      };
    case 'tool-not-allowed':
      return {
        message: `${peripheral} has no ${tool}`,
        remedy: `available here: ${openHere(available)}; ${throughWay(way, `no peripheral that can be reached from here has ${tool}`)}`,
      };
    case 'invalid-action':
      return {
        message: `${tool ? `${tool}: ` : ''}${why}`,
        remedy: typeof about['remedy'] === 'string' ? about['remedy'] : 'correct the arguments and call again',
      };
    case 'out-of-scope':
      return {
        message: `${tool}: ${argument ? `${argument} ` : ''}${value === undefined ? '' : `"${value}" `}is out of scope: ${why}`,
        remedy: typeof about['remedy'] === 'string' ? about['remedy'] : `in scope here: ${list(about['scope'])}`,
      };
    case 'mode-forbids':
      return {
        message: tool
          ? `${tool} (effect: ${about['effect']}) is not allowed in mode ${mode}`
          : `${to} cannot be entered in mode ${mode}`,
        remedy: `allowed in mode ${mode}: ${list(about['allowed'])}; ${modesIn(available)}`,
      };
    case 'mode-not-allowed':
      if (about['unknown'])
        return {
          message: to === '' ? 'a change of mode needs "to": the name of a mode' : `there is no mode "${to}"`,
          remedy: `${didYouMean(about) || `write {"to":"${available.modes[0]?.to ?? MODES[0]}","reason":"…"}; `}modes ${modesIn(available)}`,
        };
      return {
        message:
          mode === null || mode === undefined
            ? 'this spec set has no mode gate'
            : `the mode cannot go from ${mode} to ${to}: ${why}`,
        remedy:
          available.mode === null
            ? 'do without it: no mode keeps a tool of a peripheral from you here'
            : modesIn(available),
      };
    case 'summary-required':
      return {
        message: `leaving ${mode} for ${to} needs a summary of what was done`,
        remedy: 'ask for the mode again, with a summary that is not blank',
      };
    case 'no-peripheral':
      return { message: 'the session is outside of any peripheral', remedy: onward(available) };
    case 'already-active':
      return {
        message: `a visit to ${peripheral} is under way`,
        remedy: `hop instead of starting, or stop the visit first; ${onward(available)}`,
      };
    case 'hop-not-allowed':
      if (about['unknown'])
        return {
          message:
            to === ''
              ? 'a hop needs "to": the name of one peripheral'
              : about['misformed']
                ? `"${to}" is no name of a peripheral: "to" is one name, as a text`
                : `there is no peripheral "${to}"`,
          remedy: `${didYouMean(about)}${about['suggestion'] ? '' : exampleHop(available)}${throughWay(way, onward(available))}`,
        };
      return {
        message: `no edge leads from ${from}${exit ? ` by ${exit}` : ''} to ${to}`,
        remedy: throughWay(way, onward(available)),
      };
    case 'exit-not-met':
      return {
        message: `exit ${exit ?? '(none named)'} of ${from} does not hold: ${why}`,
        remedy:
          typeof about['remedy'] === 'string' ? about['remedy'] : `exits that open ${to}: ${list(about['candidates'])}`,
      };
    case 'entry-not-met':
      return {
        message: `${to} does not admit this entry: ${why}`,
        remedy: typeof about['remedy'] === 'string' ? about['remedy'] : throughWay(way, onward(available)),
      };
    case 'condition-failed':
      return { message: `${to} stays closed: ${why}`, remedy: String(about['remedy'] ?? onward(available)) };
    case 'approval-required': {
      const needs = `${about['what']} needs an approval by the operator`;
      if (about['pending'])
        return {
          message: `${needs}, and it is not answered yet`,
          remedy: `the operator answers with "hopgate approve ${about['pending']}"; then make exactly the same call again, with the same reason`,
        };
      if (about['declined'])
        return {
          message: `${needs}, and ${about['declined']} declined it`,
          remedy:
            'do not ask for the same again: say what it was for, and ask what would be approved, or what to do instead; until then go on with what is open here',
        };
      return {
        message: `${needs}${about['answer'] ? `, and ${about['answer']}` : ''}`,
        remedy:
          'ask the operator, who answers on a terminal, through the approver that the session was opened with, or ahead for a script (--approve); text is never an approval',
      };
    }
    case 'approval-invalid':
      return {
        message: `the approval for ${about['what']} does not hold: ${why}`,
        remedy: 'ask for a new approval of exactly this request',
      };
    case 'missing-context':
      return {
        message: `${to} needs ${list(about['missing'])}`,
        remedy: String(about['remedy'] ?? 'supply the missing fields'),
      };
    case 'invalid-fruit':
      return {
        message: `the fruit of ${peripheral} does not fit: ${list(about['problems'])}`,
        remedy: 'correct the stated fields and call again',
      };
    case 'limit-reached':
      return {
        message: `the ${limit} limit of ${peripheral} is reached (${value})`,
        remedy: `only stop and lawful hops remain; ${onward(available)}`,
      };
    case 'sandbox-unavailable':
      return {
        message: `${tool} needs a sandbox: ${why}`,
        remedy: String(
          about['remedy'] ??
            'install bubblewrap (apt-get install bubblewrap) and run hopgate doctor; read, glob, grep, edit and write work without it',
        ),
      };
    case 'agent-not-allowed':
      return {
        message: `agent ${about['agent']} may not enter ${to}`,
        remedy: `${to} admits: ${list(about['admits'])}; ${onward(available)}`,
      };
    case 'session-closed':
      return { message: 'the session is closed', remedy: 'open a new session' };
    case 'session-busy':
      return {
        message: `another writer holds the session${about['holder'] ? ` (${about['holder']})` : ''}`,
        remedy: `wait until it is done${about['until'] ? ` or its lease ends at ${about['until']}` : ''}, or open a session of your own`,
      };
    case 'lease-expired':
      return {
        message: 'this writer lost its lease: another writer took the session over',
        remedy:
          'open the session again to see what the other writer did; if the tool of this call ran, its outcome is not recorded',
      };
    default:
      return code satisfies never;
  }
}
