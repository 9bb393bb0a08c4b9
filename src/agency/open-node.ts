import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeFolders } from '../base/files.ts';
import { getOrInsert } from '../base/get-or-insert.ts';
import { type Env, userStateFolder, xdgFolder } from '../base/user-folders.ts';
import type { AgencyAgent, LocalAgent } from '../spec/agency/agency-types.ts';
import { loadAgency } from '../spec/agency/load-agency.ts';
import { AgencyNode } from './agency-node.ts';
import type { AgentDriver } from './agent-driver.ts';
import type { DialIns } from './dial-in.ts';
import { claudeCodeDriver } from './drivers/claude-code-driver.ts';
import { codexDriver } from './drivers/codex-driver.ts';
import { httpDriver } from './drivers/http-driver.ts';
import { scriptedDriver } from './drivers/scripted-driver.ts';
import { openRunJournal } from './run-journal.ts';
import { RunFailure } from './run-reply.ts';
import { type SendRun, sendRunsOverHttp } from './send-run.ts';

/** The agency folder of this user: `$XDG_CONFIG_HOME/hopgate/agency`. */
export const agencyFolder = (env: Env): string =>
  join(xdgFolder(env, 'XDG_CONFIG_HOME', '.config'), 'hopgate', 'agency');

/** The journal of this user's runs: `$XDG_STATE_HOME/hopgate/agency.db`. */
export const runJournalFile = (env: Env): string => join(userStateFolder(env), 'agency.db');

interface OpenNodeOptions {
  readonly env: Env;
  readonly id: string;
  /** The agency folder. Default: {@link agencyFolder}. */
  readonly folder?: string;
  readonly dialIns: DialIns;
}

export function openAgencyNode({ env, id, folder = agencyFolder(env), dialIns }: OpenNodeOptions): AgencyNode {
  makeFolders(userStateFolder(env), 0o700);
  return new AgencyNode({
    id,
    load: () => loadAgency(folder),
    driverOf: (agent) => driverOf(agent, env),
    senderTo: (agent) => senderTo(agent, dialIns),
    journal: openRunJournal(runJournalFile(env)),
  });
}

function senderTo(agent: AgencyAgent & { readonly location: 'remote' | 'dial-in' }, dialIns: DialIns): SendRun {
  return agent.location === 'dial-in'
    ? dialIns.senderTo(agent.node)
    : sendRunsOverHttp(agent.url, readTokenFile(agent.tokenFile));
}

/** Reads a token from a file; null if `file` is null. @throws RunFailure `agent-unreachable` if it cannot be read */
export function readTokenFile(file: string | null): string | null {
  if (file === null) return null;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new RunFailure(
      'agent-unreachable',
      `the token cannot be read: ${(error as Error).message}`,
      'Write the token to this file; "hopgate agency token NAME" prints it on the other machine.',
    );
  }
}

const scripted = new Map<string, AgentDriver>();

async function driverOf(agent: LocalAgent & { readonly id: string }, env: Env): Promise<AgentDriver> {
  const { driver, program, cwd, model, module, url, tokenFile, honours, replies } = agent;
  const at = { cwd, model, env: env as NodeJS.ProcessEnv };
  switch (driver) {
    case 'claude-code':
      return claudeCodeDriver({ program: program ?? 'claude', ...at });
    case 'codex':
      return codexDriver({ program: program ?? 'codex', ...at });
    case 'http':
      return httpDriver({ url: url!, token: readTokenFile(tokenFile), honours });
    case 'scripted': {
      const key = JSON.stringify([agent.id, replies]);
      return getOrInsert(scripted, key, () => scriptedDriver(replies));
    }
    case 'ai-sdk': {
      const { aiSdkDriver } = await import('./drivers/ai-sdk-driver.ts');
      type Model = Parameters<typeof aiSdkDriver>[0] | undefined;
      const loaded = await import(pathToFileURL(module!).href).catch((error: Error) => error);
      const found: Model = loaded instanceof Error ? undefined : loaded.default;
      if (found !== undefined) return aiSdkDriver(found);
      const problem = loaded instanceof Error ? loaded.message : 'the module has no default export';
      throw new RunFailure(
        'agent-not-started',
        `the model of ${agent.id} cannot be loaded: ${problem}`,
        'Correct "module" of the agent in agents.yaml: a module whose default export is a model of the AI SDK.',
      );
    }
  }
}
