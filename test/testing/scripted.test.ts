import { describe, expect, it } from 'vitest';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { toolBackendContract, toolCall } from '../contracts/tool-backend.ts';

const envelope = { root: '/nowhere' };
const failure = { outcome: { status: 'failed', code: 'no-luck', message: 'Try again.' }, effects: [] } as const;

toolBackendContract(
  'scripted',
  () => ({
    backend: scriptedBackend({ read: 'text', write: failure }, ['read', 'write', 'other']),
    cases: [
      { what: 'a scripted value', tool: 'read', args: {}, ends: 'ok', effects: [] },
      { what: 'a scripted report', tool: 'write', args: {}, ends: 'failed', code: 'no-luck' },
      { what: 'nothing scripted', tool: 'other', args: {}, ends: 'ok' },
    ],
  }),
  { none: 'it reads no files' },
);

describe('the scripted backend', () => {
  it('answers with values, reports and functions, and null without a script', async () => {
    const backend = scriptedBackend({
      read: { text: 'hello' },
      list: [1, 2],
      outcome: { outcome: 'a word', effects: 'none' },
      edit: failure,
      write: async (args, call) => ({ path: args['path'] ?? null, session: call.sessionId }),
      bash: () => ({ outcome: { status: 'ok', result: 1 }, effects: 'unobserved' }),
    });
    const ask = async (tool: string, args = {}) => backend.run(toolCall(tool, args, envelope));
    expect((await ask('read')).outcome).toEqual({ status: 'ok', result: { text: 'hello' } });
    expect((await ask('list')).outcome).toEqual({ status: 'ok', result: [1, 2] });
    expect((await ask('outcome')).outcome).toEqual({ status: 'ok', result: { outcome: 'a word', effects: 'none' } });
    expect(await ask('edit')).toEqual(failure);
    expect((await ask('write', { path: 'a' })).outcome).toEqual({
      status: 'ok',
      result: { path: 'a', session: 'session-1' },
    });
    expect((await ask('bash')).effects).toBe('unobserved');
    expect((await ask('constructor')).outcome).toEqual({ status: 'ok', result: null });
  });

  it('records its calls with copies of their arguments', async () => {
    const backend = scriptedBackend({ read: null, glob: null });
    const args = { path: 'a' };
    await backend.run(toolCall('read', args, envelope));
    args.path = 'b';
    await backend.run(toolCall('glob', args, envelope));
    expect(backend.calls).toEqual([
      { tool: 'read', args: { path: 'a' } },
      { tool: 'glob', args: { path: 'b' } },
    ]);
  });

  it('serves the tools of its table, or the named ones', () => {
    expect(scriptedBackend({ read: 1 }).tools).toEqual(['read']);
    expect(scriptedBackend({ read: 1 }, ['read', 'bash']).tools).toEqual(['read', 'bash']);
  });
});
