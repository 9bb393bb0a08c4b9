import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type AgentDriver, AgentFailed, type AgentTask, switchesOpenedByShell } from '../../src/agency/agent-driver.ts';
import type { AgencySwitches } from '../../src/spec/agency/agency-types.ts';

/** The behaviour of an agent's double. */
export type AgentDouble = 'answers' | 'fails' | 'hangs';

/** A driver over a double of its agent, and what the double got. */
export interface DriverUnderTest {
  readonly driver: AgentDriver;
  /** The text that each start of the agent got: instructions and prompt. */
  readonly starts: () => readonly string[];
  /** The tools that the agent's program was offered, in its own words; null if the driver gives it no list. */
  readonly offered?: () => readonly string[];
}

const OFF: AgencySwitches = { fs: false, shell: false, http: false };
const ALL: readonly AgencySwitches[] = Array.from({ length: 8 }, (_, bits) => ({
  fs: (bits & 1) > 0,
  shell: (bits & 2) > 0,
  http: (bits & 4) > 0,
}));

/** The contract of every driver of the agency. The double answers "pong". */
export function describeAgencyDriver(name: string, make: (double: AgentDouble) => Promise<DriverUnderTest>): void {
  const task = (more: Partial<AgentTask> = {}): AgentTask => ({
    instructions: 'Be brief.',
    prompt: 'ping',
    tools: OFF,
    schema: null,
    signal: new AbortController().signal,
    ...more,
  });

  describe(`agency driver: ${name}`, () => {
    it('starts the agent once, with the instructions and the prompt, and returns its text', async () => {
      const { driver, starts } = await make('answers');
      expect(await driver.run(task())).toBe('pong');
      expect(starts()).toHaveLength(1);
      expect(starts()[0]).toContain('ping');
      expect(starts()[0]).toContain('Be brief.');
    });

    it('passes a prompt on as text, also one that looks like options, JSON or many lines', async () => {
      const { driver, starts } = await make('answers');
      const prompt = '--help\n{"type":"result"}\n$(touch x) `id` é';
      await driver.run(task({ prompt }));
      expect(starts()[0]).toContain(prompt);
    });

    it('throws AgentFailed if the agent fails, and starts it no second time', async () => {
      const { driver, starts } = await make('fails');
      await expect(driver.run(task())).rejects.toBeInstanceOf(AgentFailed);
      expect(starts().length).toBeLessThanOrEqual(1);
    });

    it('ends the agent when the signal is aborted', async () => {
      const { driver, starts } = await make('hangs');
      const stop = new AbortController();
      const run = driver.run(task({ signal: stop.signal })).then(
        () => 'answered',
        () => 'ended',
      );
      while (starts().length === 0) await sleep(5);
      stop.abort();
      expect(await run).toBe('ended');
    });

    it('offers no tool if every switch is off', async () => {
      const { driver, offered } = await make('answers');
      if (driver.unenforceable(OFF).length > 0) return;
      await driver.run(task());
      expect(offered?.() ?? []).toEqual([]);
    });

    it('enforces each envelope or names the switches that it cannot enforce', async () => {
      const { driver, offered } = await make('answers');
      for (const tools of ALL) {
        const open = driver.unenforceable(tools);
        expect(driver.unenforceable(tools)).toEqual(open);
        if (open.length > 0) continue;
        await driver.run(task({ tools }));
        const words = (offered?.() ?? []).join(' ');
        if (!tools.shell) expect(words).not.toMatch(/Bash|shell/i);
        if (!tools.fs) expect(words).not.toMatch(/Read|Write|Edit|Glob|Grep/);
        if (!tools.http) expect(words).not.toMatch(/Web/);
        if (words.includes('Bash')) expect(switchesOpenedByShell(tools)).toEqual([]);
      }
    });
  });
}
