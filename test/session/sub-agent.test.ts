import { describe, expect, it } from 'vitest';
import type { FindSessionById } from '../../src/audit/delegation/sub-agent-audit.ts';
import { verifySession } from '../../src/audit/verify/verify-session.ts';
import { openSession } from '../../src/open-session.ts';
import { readSessionState } from '../../src/session/resume-point.ts';
import { loadBuiltInCatalogue } from '../../src/spec/load/load-specs.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { must, temporaryTree } from './sessions.ts';

const tool = (id: string, effect: string) =>
  `  ${id}: { purpose: x, effect: ${effect}, parameters: [{ name: table, role: resource, description: x }], limits: { seconds: 1, output-bytes: 99 } }\n`;
const files = [
  { file: 'tools.yaml', text: `tools:\n${tool('look', 'observe')}${tool('change', 'act')}` },
  {
    file: 'peripherals/lead.yaml',
    text: 'id: lead\npurpose: x\ntools: [look]\nscope: { resource: ["db:test/*", "!db:test/keys"] }\nentry: default\nexit: { on: hand }\ndelegates: [hand, { to: own, within: own }]',
  },
  ...['hand', 'own'].map((id) => ({
    file: `peripherals/${id}.yaml`,
    text: `id: ${id}\npurpose: x\ntools: [look, change]\nscope: { resource: ["db:test/*", "db:live/*"] }\nentry: from-lead\nexit: {}`,
  })),
];
const parsed = parseSpecSet(files, await loadBuiltInCatalogue());
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
const { specs } = parsed;

describe('the session of a sub-agent that a program opens by its delegation', () => {
  const store = memoryStore();
  const backends = [scriptedBackend({ look: null, change: null })];
  const common = { root: temporaryTree(), store, backends, specs };
  const find: FindSessionById = async (id) => ({
    pinned: (await readSessionState(store, id)).pin,
    entries: store.entries(id),
  });

  it.each([
    ['hand', ['look']],
    ['own', ['look', 'change']],
  ])('has the limits that the delegation to %s allows, and both audits agree', async (to, tools) => {
    const parent = await openSession({ ...common, agent: 'lead' });
    await must(parent.start('lead'));
    const begun = await must(parent.delegate({ to, reason: 'to help' }));
    const delegation = { entry: begun.delegation, session: begun.session! };
    const child = await openSession({ ...common, agent: 'helper', delegation });
    await must(child.start(to, { context: begun.context }));
    expect([child.id, child.available().tools, child.available().hops]).toEqual([begun.session, tools, []]);
    await must(child.step({ tool: 'look', args: ['db:test/users'] }));
    const keys = child.why({ tool: 'look', args: [to === 'hand' ? 'db:test/keys' : 'db:other/x'] });
    expect(keys?.code).toBe('out-of-scope');
    for (const { id } of [parent, child]) {
      const { pinned, entries } = (await find(id))!;
      expect((await verifySession(id, pinned, entries, { find })).audit.violations).toEqual([]);
    }
  });

  it('is not opened by an entry that is not a delegation', async () => {
    const parent = await openSession({ ...common, agent: 'lead' });
    const [opened] = await parent.evidence();
    const opening = openSession({ ...common, agent: 'helper', delegation: { entry: opened!.id, session: 's-1' } });
    await expect(opening).rejects.toThrow(/no delegation/);
  });
});
