import type { Fields } from '../types.ts';

/** The switches of an agency peripheral: files, commands, and the network. A switch that is left out is off. */
export const AGENCY_SWITCHES = ['fs', 'shell', 'http'] as const;
export type AgencySwitch = (typeof AGENCY_SWITCHES)[number];
export type AgencySwitches = { readonly [key in AgencySwitch]: boolean };

export const CONTEXT_BLOCK_KINDS = ['last-turns', 'files', 'evidence'] as const;
export type ContextBlockKind = (typeof CONTEXT_BLOCK_KINDS)[number];

/** The programs and protocols that run an agent of this node. */
export const DRIVER_KINDS = ['scripted', 'http', 'ai-sdk', 'claude-code', 'codex'] as const;
export type DriverKind = (typeof DRIVER_KINDS)[number];

/** The form of an answer: text, or JSON that fits a schema. */
type ResponseSpec = { readonly type: 'text' } | { readonly type: 'json'; readonly schema: Fields };

/** A peripheral that runs once: it renders a prompt from inputs, and returns one response. */
export interface AgencyPeripheral {
  readonly id: string;
  /** The purpose of the peripheral in a sentence: the agent's instructions. */
  readonly entry: string;
  /** The names of the inputs, all required: `par/title`. */
  readonly inputs: readonly string[];
  readonly promptTemplate: string;
  readonly tools: AgencySwitches;
  readonly response: ResponseSpec;
  readonly context: readonly ContextBlockKind[];
  /** Time limit of the agent's work in milliseconds; null for the node's default. */
  readonly timeoutMs: number | null;
  /** The maximum number of times that the node starts a failed agent again. */
  readonly retries: number;
}

/** An agent of the registry, by its location. */
export type AgencyAgent = { readonly id: string } & (
  | LocalAgent
  | RemoteAgent
  | { readonly location: 'dial-in'; readonly node: string }
);

/** An agent that runs on another node, which has an address. */
export interface RemoteAgent {
  readonly location: 'remote';
  readonly url: string;
  readonly tokenFile: string | null;
  /** The name of the agent's node in addresses of messages: `agent:codex@<node>`. */
  readonly node: string;
}

/** An agent that this node itself runs. */
export interface LocalAgent {
  readonly location: 'local';
  readonly driver: DriverKind;
  /** The path of the program to start; null for the driver's program on the PATH. */
  readonly program: string | null;
  /** The folder in which an agent with tools works; null for an empty temporary folder in each run. */
  readonly cwd: string | null;
  readonly model: string | null;
  /** The module whose default export is the model of the AI SDK. */
  readonly module: string | null;
  /** The address of an agent that is reached over HTTP. */
  readonly url: string | null;
  readonly tokenFile: string | null;
  /** The switches that an agent over HTTP obeys when they are off, as the operator states. */
  readonly honours: readonly AgencySwitch[];
  /** The answers of a scripted agent, in order; the last is repeated. */
  readonly replies: readonly string[];
}

/** The trusted content of an agency folder. */
export interface AgencySpec {
  readonly peripherals: { readonly [id: string]: AgencyPeripheral };
  readonly agents: { readonly [id: string]: AgencyAgent };
}
