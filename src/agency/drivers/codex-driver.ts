import { fieldsOf, parseJson, textOf } from '../../base/json.ts';
import { splitWords } from '../../base/text.ts';
import type { AgencySwitch } from '../../spec/agency/agency-types.ts';
import { type AgentDriver, AgentFailed } from '../agent-driver.ts';
import type { AgentProgramOptions } from './claude-code-driver.ts';
import { runAgentProgram } from './run-agent-program.ts';

/** The features of Codex that offer tools; all are disabled. */
const TOOL_FEATURES = ['shell_tool', 'multi_agent', 'apps', 'plugins', 'hooks', 'browser_use', 'computer_use', 'goals'];

const SETTINGS = splitWords(`
  web_search="disabled" features.view_image=false tools.view_image=false mcp_servers={} project_doc_max_bytes=0
  approval_policy="never"
`);

/** Codex without its tools, in its read-only sandbox. It supports only peripherals whose switches are all off. */
export function codexDriver({ program, cwd, model, env }: AgentProgramOptions): AgentDriver {
  return {
    name: 'codex',
    unenforceable: (tools) => (Object.keys(tools) as AgencySwitch[]).filter((key) => tools[key]),
    async run({ instructions, prompt, signal }) {
      const output = await runAgentProgram({
        program,
        args: [
          'exec',
          ...splitWords('--json --skip-git-repo-check --ephemeral --sandbox read-only'),
          ...TOOL_FEATURES.flatMap((feature) => ['--disable', feature]),
          ...SETTINGS.flatMap((setting) => ['-c', setting]),
          ...(model === null ? [] : ['--model', model]),
          '-',
        ],
        input: `${instructions}\n\n${prompt}`,
        cwd,
        env,
        signal,
      });
      return lastMessageIn(output);
    },
  };
}

/** The last message of the agent in Codex's JSON lines. */
function lastMessageIn(output: string): string {
  let last: string | null = null;
  for (const line of output.split('\n')) {
    const item = fieldsOf(fieldsOf(parseJson(line))['item']);
    if (item['type'] === 'agent_message') last = textOf(item['text']) ?? last;
  }
  if (last === null) throw new AgentFailed('Codex ended without an answer');
  return last;
}
