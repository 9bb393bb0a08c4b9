import type { AgencySwitch, AgencySwitches } from '../spec/agency/agency-types.ts';
import type { Fields } from '../spec/types.ts';

export interface AgentTask {
  /** The purpose of the peripheral, as instructions for the agent. */
  readonly instructions: string;
  readonly prompt: string;
  readonly tools: AgencySwitches;
  /** The JSON Schema of the answer; null for text. */
  readonly schema: Fields | null;
  /** Ends the agent: the time limit has passed, or the run was cancelled. */
  readonly signal: AbortSignal;
}

export interface AgentDriver {
  readonly name: string;
  /** The switches (files, shell, network) that this driver cannot set as the envelope demands. */
  readonly unenforceable: (tools: AgencySwitches) => readonly AgencySwitch[];
  /** Starts the agent once and returns its text. @throws AgentFailed if the agent ended without an answer */
  readonly run: (task: AgentTask) => Promise<string>;
}

/** Thrown if an agent ended without an answer: it crashed, or its model refused. */
export class AgentFailed extends Error {
  override readonly name = 'AgentFailed';
  /** The next action of the caller; null if it is not known. */
  readonly remedy: string | null;
  /** False if the agent has certainly not begun: its program is missing, or its address refuses connections. */
  readonly hasStarted: boolean;
  constructor(
    message: string,
    {
      remedy = null,
      hasStarted = true,
      cause,
    }: { readonly remedy?: string | null; readonly hasStarted?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.remedy = remedy;
    this.hasStarted = hasStarted;
  }
}

/** The switches that are off but ineffective, because `shell` is on: a command can read files and use the network. */
export const switchesOpenedByShell = ({ fs, shell, http }: AgencySwitches): readonly AgencySwitch[] =>
  shell ? [...(fs ? [] : (['fs'] as const)), ...(http ? [] : (['http'] as const))] : [];
