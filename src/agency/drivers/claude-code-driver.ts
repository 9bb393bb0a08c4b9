import { fieldsOf, parseJson, textOf } from '../../base/json.ts';
import { splitWords } from '../../base/text.ts';
import type { AgencySwitch, AgencySwitches } from '../../spec/agency/agency-types.ts';
import { type AgentDriver, AgentFailed, switchesOpenedByShell } from '../agent-driver.ts';
import { runAgentProgram } from './run-agent-program.ts';

export interface AgentProgramOptions {
  /** The path of the agent's program, or its name on the PATH. */
  readonly program: string;
  /** The folder in which the program works; null for a new empty folder in each run. */
  readonly cwd: string | null;
  readonly model: string | null;
  readonly env: NodeJS.ProcessEnv;
}

/** The tools of Claude Code that each switch makes available. */
const CLAUDE_TOOLS: { readonly [key in AgencySwitch]: readonly string[] } = {
  fs: ['Read', 'Glob', 'Grep', 'Edit', 'Write'],
  shell: ['Bash'],
  http: ['WebFetch', 'WebSearch'],
};

/**
 * Claude Code in print mode. It has only the built-in tools of the switches that are on. Settings, hooks, plugins, MCP
 * servers and skills of the user are not loaded. Claude Code would read a file that the prompt names by `@path`, so an
 * invisible separator is put after each `@`.
 */
export function claudeCodeDriver({ program, cwd, model, env }: AgentProgramOptions): AgentDriver {
  return {
    name: 'claude-code',
    unenforceable: switchesOpenedByShell,
    async run({ instructions, prompt, tools, signal }) {
      const output = await runAgentProgram({
        program,
        args: [
          '-p',
          ...splitWords(`
            --output-format json --safe-mode --strict-mcp-config --disable-slash-commands --no-session-persistence
            --permission-mode dontAsk
          `),
          '--tools',
          toolsOf(tools).join(','),
          ...(toolsOf(tools).length > 0 ? ['--allowedTools', toolsOf(tools).join(',')] : []),
          '--append-system-prompt',
          instructions,
          ...(model === null ? [] : ['--model', model]),
        ],
        input: prompt.replaceAll('@', '@\u2060'),
        cwd,
        env,
        signal,
      });
      return resultIn(output);
    },
  };
}

const toolsOf = (tools: AgencySwitches): readonly string[] =>
  (Object.keys(CLAUDE_TOOLS) as AgencySwitch[]).flatMap((key) => (tools[key] ? CLAUDE_TOOLS[key] : []));

function resultIn(output: string): string {
  const fields = fieldsOf(parseJson(output));
  const result = textOf(fields['result']);
  if (result === null || fields['is_error'] === true)
    throw new AgentFailed(`Claude Code ended without an answer${result === null ? '' : `: ${result}`}`);
  return result;
}
