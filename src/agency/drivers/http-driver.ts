import { fetchJson, readResponseText, requestErrorCode, requestProblem } from '../../base/http.ts';
import { fieldsOf, parseJson, textOf } from '../../base/json.ts';
import { AGENCY_SWITCHES, type AgencySwitch, type AgencySwitches } from '../../spec/agency/agency-types.ts';
import { type AgentDriver, AgentFailed } from '../agent-driver.ts';

interface HttpAgent {
  readonly url: string;
  readonly token: string | null;
  /** The switches that the agent really keeps off, as the operator states. */
  readonly honours: readonly AgencySwitch[];
}

const MAX_BYTES = 4 << 20;
/** The codes of errors after which no request was sent. */
const NEVER_CONNECTED: readonly unknown[] = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'];

/**
 * An agent at an HTTP address: POST `{ instructions, prompt, tools, schema }`, response `{ response }`. hopgate cannot
 * see its tools, so a switch that is off is enforced only if `honours` names it.
 */
export function httpDriver({ url, token, honours }: HttpAgent): AgentDriver {
  return {
    name: 'http',
    unenforceable: (tools: AgencySwitches) => AGENCY_SWITCHES.filter((key) => !tools[key] && !honours.includes(key)),
    async run({ signal, ...task }) {
      let answer: Response;
      let text: string;
      try {
        answer = await fetchJson(url, { token, body: task, signal });
        text = await readAgentResponseText(answer);
      } catch (error) {
        if (error instanceof AgentFailed) throw error;
        throw new AgentFailed(`the agent at ${url} cannot be reached: ${requestProblem(error)}`, {
          remedy: 'Start it, or correct "url" of the agent in agents.yaml.',
          hasStarted: !NEVER_CONNECTED.includes(requestErrorCode(error)),
          cause: error,
        });
      }
      if (!answer.ok) throw new AgentFailed(`the agent answered with HTTP status ${answer.status}`);
      const response = textOf(fieldsOf(parseJson(text))['response']);
      if (response === null) throw new AgentFailed('the agent\'s answer has no text in "response"');
      return response;
    },
  };
}

/** The body as text. @throws AgentFailed if it is too large */
export const readAgentResponseText = (answer: Response): Promise<string> =>
  readResponseText(MAX_BYTES, answer, () => new AgentFailed('the answer is too large'));
