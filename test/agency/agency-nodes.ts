import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgencyNode } from '../../src/agency/agency-node.ts';
import { DialIns } from '../../src/agency/dial-in.ts';
import { openAgencyNode } from '../../src/agency/open-node.ts';
import { Tokens } from '../../src/server/access/tokens.ts';
import { serveWorld } from '../server/serve-world.ts';
import { type Cut, openWire } from './breaking-wire.ts';
import { openCountingAgent } from './counting-agent.ts';

/** The original peripheral in EDN, word for word. */
export const PAR_PARTICIPANT = `{:id :par-participant
 :entry "Join PAR and contribute a concise perspective."
 :inputs [:par/title :par/crdt-host :par/crdt-port :session/id]
 :prompt-template "PAR: {{par/title}}\\nCRDT: {{par/crdt-host}}:{{par/crdt-port}}\\nSession: {{session/id}}\\n\\nInstructions: Provide 2-4 sentences per section you can answer."
 :tools {:fs false :shell false :http false}
 :response {:type :text :field :response}}
`;

export const INPUTS = { 'par/title': 'Lab', 'par/crdt-host': 'h', 'par/crdt-port': 6530, 'session/id': 's1' };
export const run = (agent: string, more: object = {}) => ({
  'agent-id': agent,
  peripheral: 'par-participant',
  inputs: INPUTS,
  ...more,
});

export function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'agency-test-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** An agency folder with the original peripheral and these agents (YAML). */
export function agencyWith(agents: string, peripherals = PAR_PARTICIPANT): string {
  const at = join(folder(), 'agency');
  mkdirSync(at);
  writeFileSync(join(at, peripherals.startsWith('{') ? 'peripherals.edn' : 'peripherals.yaml'), peripherals);
  writeFileSync(join(at, 'agents.yaml'), agents);
  return at;
}

/** A node with a state of its own. */
export function nodeWith(agents: string, { id = 'a', peripherals = PAR_PARTICIPANT, env = {} } = {}): AgencyNode {
  const state = folder();
  const node = openAgencyNode({
    env: { HOME: state, XDG_STATE_HOME: state, PATH: process.env['PATH'], ...env },
    id,
    folder: agencyWith(agents, peripherals),
    dialIns: new DialIns(),
  });
  onTestFinished(() => node.close());
  return node;
}

/** An agent over HTTP that keeps the prompt of each start. */
export async function countingAgent(wait: number | Promise<unknown> = 0) {
  const agent = await openCountingAgent(wait);
  onTestFinished(() => void agent.server.close());
  return agent;
}

/** A server whose agency is this folder. */
export async function served(agents: string, peripherals = PAR_PARTICIPANT) {
  const at = await serveWorld(
    {},
    { agencyFolder: agencyWith(agents, peripherals), agencyListen: { host: '127.0.0.1', port: 0 } },
  );
  const port = Number(/:(\d+)$/.exec(at.http.agencyAddress!)![1]);
  return { ...at, agencyPort: port, tokens: new Tokens(at.env) };
}

/** A wire to a port that breaks once, after so many bytes in one direction; later connections hold. */
export async function breakingWire(port: number, cut: Cut) {
  const wire = await openWire(port);
  onTestFinished(() => void wire.server.close());
  wire.cut(cut);
  return wire;
}
