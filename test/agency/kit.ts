import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { DialIns } from '../../src/agency/dial-in.ts';
import type { AgencyNode } from '../../src/agency/node.ts';
import { openNode } from '../../src/agency/open-node.ts';

/** The peripheral of the seed, word for word. */
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

/** An agency folder with the seed's peripheral and these agents (YAML). */
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
  const node = openNode({
    env: { HOME: state, XDG_STATE_HOME: state, PATH: process.env['PATH'], ...env },
    id,
    folder: agencyWith(agents, peripherals),
    dialIns: new DialIns(),
  });
  onTestFinished(() => node.close());
  return node;
}

/** An agent over HTTP that counts how often it was started, by the prompt. */
export async function countingAgent(delayMs = 0): Promise<{ readonly url: string; readonly prompts: string[] }> {
  const prompts: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      prompts.push(JSON.parse(body).prompt);
      setTimeout(() => response.end(JSON.stringify({ response: 'a view' })), delayMs);
    });
  });
  return { url: `http://127.0.0.1:${await listening(server)}/`, prompts };
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A wire to a port that breaks once, after so many bytes in one direction; later connections hold. */
export async function breakingWire(port: number, cut: { readonly up?: number; readonly down?: number }) {
  let broken = false;
  const pass = (from: Socket, to: Socket, limit: number | undefined, both: () => void): void => {
    let passed = 0;
    from.on('data', (chunk) => {
      if (broken || limit === undefined) return void to.write(chunk);
      if (passed + chunk.length < limit) {
        passed += chunk.length;
        return void to.write(chunk);
      }
      broken = true;
      to.write(chunk.subarray(0, limit - passed), both);
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
  };
  const server = createTcpServer((near) => {
    const far = connectTcp(port, '127.0.0.1');
    const both = () => {
      near.destroy();
      far.destroy();
    };
    pass(near, far, cut.up, both);
    pass(far, near, cut.down, both);
  });
  return { port: await listening(server), isBroken: () => broken };
}
