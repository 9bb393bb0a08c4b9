import { describe, expect, it } from 'vitest';
import type { AuditRule } from '../../src/audit/rules/rule-problem.ts';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import type { Session } from '../../src/session/session.ts';
import { hashSpecs } from '../../src/spec/hash-specs.ts';
import { deriveEdges } from '../../src/spec/resolve/derive-edges.ts';
import type { Edge, PeripheralSpec, ProjectConfig, SpecSet, ToolSpec } from '../../src/spec/types.ts';
import { answering, CONFIG, SPECS, world } from './audited-session.ts';

/** A spec set with one peripheral changed and everything that follows from it. */
const withPeripheral = (specs: SpecSet, id: string, fields: Partial<PeripheralSpec>): SpecSet => {
  const peripherals = { ...specs.peripherals, [id]: { ...specs.peripherals[id]!, ...fields } };
  return rehash({ ...specs, peripherals, edges: deriveEdges(peripherals) });
};
const withTool = (specs: SpecSet, id: string, fields: Partial<ToolSpec>): SpecSet =>
  rehash({ ...specs, tools: { ...specs.tools, [id]: { ...specs.tools[id]!, ...fields } } });
const withGate = (specs: SpecSet, fields: Partial<NonNullable<SpecSet['modeGate']>>): SpecSet =>
  rehash({ ...specs, modeGate: { ...specs.modeGate!, ...fields } });
const withEdges = (specs: SpecSet, change: (edge: Edge) => Edge): SpecSet => ({
  ...specs,
  edges: specs.edges.map(change),
});
const rehash = (specs: SpecSet): SpecSet => ({ ...specs, hash: hashSpecs(specs) });

const free = (specs: SpecSet): SpecSet => rehash({ ...specs, modeGate: null });

/** The moves to a peripheral, each of them allowed. */
const to = {
  async diagnose(session: Session) {
    await session.start('explore');
    await session.setMode({ to: 'diagnose' });
  },
  async edit(session: Session) {
    await this.diagnose(session);
    await session.step({ tool: 'read', args: ['src/a.ts'] });
    await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'r' });
    await session.setMode({ to: 'execute' });
  },
  async test(session: Session) {
    await this.edit(session);
    await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } });
    await session.hop({ to: 'test', exit: 'hop-test', reason: 'r', fruit: { 'commit-message': 'm' } });
  },
  async deploy(session: Session) {
    await this.test(session);
    await session.step({ tool: 'bash-test' });
    await session.hop({ to: 'deploy', exit: 'pass', reason: 'r' });
  },
};

interface Broken {
  readonly forgets: string;
  /** The rule that the audit has to name, and a part of its words. */
  readonly rule: AuditRule;
  readonly says: string;
  /** The pinned specs; default: the fixture specs. */
  readonly pinned?: SpecSet;
  readonly config?: ProjectConfig;
  /** The specs that the engine uses instead. */
  readonly specs?: (specs: SpecSet) => SpecSet;
  readonly engineConfig?: Partial<ProjectConfig>;
  readonly backend?: ReturnType<typeof answering>;
  readonly does: (session: Session, pass: (ms: number) => void) => Promise<unknown>;
}

const P = SPECS.peripherals;

const BROKEN: readonly Broken[] = [
  {
    forgets: 'the tool envelope',
    rule: 'tool',
    says: 'write was used in test',
    specs: (s) => withPeripheral(s, 'test', { tools: [...P['test']!.tools, 'write'], scope: P['edit']!.scope }),
    does: async (session) => {
      await to.test(session);
      await session.step({ tool: 'write', args: { path: 'src/a.ts', content: '' } });
    },
  },
  {
    forgets: 'the write scope',
    rule: 'scope',
    says: 'outside of the paths',
    specs: (s) =>
      withPeripheral(s, 'edit', { scope: { name: '{ paths }', rule: { ...P['edit']!.scope.rule, write: ['.'] } } }),
    does: async (session) => {
      await to.edit(session);
      await session.step({ tool: 'write', args: { path: 'src/../package.json', content: '' } });
    },
  },
  {
    forgets: "the repository's own write scope",
    rule: 'scope',
    says: 'outside of the paths',
    config: { ...CONFIG, scopes: { edit: ['lib/'] } },
    engineConfig: { scopes: {} },
    does: async (session) => {
      await to.edit(session);
      await session.step({ tool: 'write', args: { path: 'src/a.ts', content: '' } });
    },
  },
  {
    forgets: 'what the session has named',
    rule: 'scope',
    says: 'no entry of this session names the file',
    specs: (s) => withPeripheral(s, 'reflect', { scope: P['explore']!.scope }),
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'glob', args: { pattern: '*' } });
      await session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'r' });
      await session.step({ tool: 'read', args: ['src/secret.ts'] });
    },
  },
  {
    forgets: 'the masks',
    rule: 'scope',
    says: 'the path is masked',
    engineConfig: { mask: [] },
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'read', args: ['deploy/.env'] });
    },
  },
  {
    forgets: 'that a scope runs no commands',
    rule: 'scope',
    says: 'the scope grants no commands',
    pinned: withPeripheral(SPECS, 'explore', {
      scope: { name: 'x', rule: { ...P['explore']!.scope.rule, command: 'none' } },
    }),
    specs: () => SPECS,
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'bash-readonly', args: { command: 'ls' } });
    },
  },
  {
    forgets: 'that a scope fetches nothing',
    rule: 'scope',
    says: 'was fetched',
    pinned: withPeripheral(SPECS, 'explore', {
      scope: { name: 'x', rule: { ...P['explore']!.scope.rule, url: 'none' } },
    }),
    specs: () => SPECS,
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'web-fetch', args: { url: 'https://docs.example.com/' } });
    },
  },
  {
    forgets: 'the allowed hosts',
    rule: 'scope',
    says: 'evil.example is not an allowed host',
    engineConfig: { web: { allow: ['evil.example'] } },
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'web-fetch', args: { url: 'https://evil.example/docs.example.com' } });
    },
  },
  {
    forgets: 'the configured test commands',
    rule: 'scope',
    says: 'is not a configured test command',
    engineConfig: { test: [{ run: ['npm', 'run', 'release'], report: 'tap' }] },
    does: async (session) => {
      await to.test(session);
      await session.step({ tool: 'bash-test', args: { command: 'npm run release' } });
    },
  },
  {
    forgets: 'the configured deploy commands',
    rule: 'scope',
    says: 'is not a configured deploy command',
    engineConfig: { deploy: { production: { run: ['true'], network: false } } },
    does: async (session) => {
      await to.deploy(session);
      await session.step({ tool: 'bash-deploy', args: { name: 'production' } });
    },
  },
  {
    forgets: 'where pushes go',
    rule: 'scope',
    says: 'not main to origin',
    engineConfig: { git: { remote: 'elsewhere', branch: 'main' } },
    does: async (session) => {
      await to.deploy(session);
      await session.step({ tool: 'bash-git', args: { sub: 'push', args: ['elsewhere', 'main'] } });
    },
  },
  {
    forgets: 'that a push does not force',
    rule: 'scope',
    says: 'not among the commands and options for agents',
    specs: (s) =>
      withTool(s, 'bash-git', {
        parameters: s.tools['bash-git']!.parameters.map((one) => ({ ...one, role: 'text' })),
        // The gate judges the tools of a server by their roles alone.
        upstream: { server: 'git', tool: 'git', schemaHash: '', folders: 'names' },
      }),
    does: async (session) => {
      await to.deploy(session);
      await session.step({ tool: 'bash-git', args: { sub: 'push --force' } });
    },
  },
  {
    forgets: 'the schemas of arguments',
    rule: 'argument',
    says: 'which its schema refuses',
    specs: (s) =>
      withTool(s, 'read', {
        parameters: s.tools['read']!.parameters.map((one) => ({ ...one, schema: {} })),
      }),
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'read', args: { path: 'src/a.ts', limit: 'all' } });
    },
  },
  {
    forgets: 'which parameters there are',
    rule: 'argument',
    says: 'no parameter force',
    specs: (s) =>
      withTool(s, 'read', {
        parameters: [
          ...s.tools['read']!.parameters,
          { name: 'force', role: 'text', schema: {}, required: false, description: '' },
        ],
      }),
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'read', args: { path: 'src/a.ts', force: true } });
    },
  },
  {
    forgets: 'to record an intent before a tool acts',
    rule: 'intent',
    says: 'the call has no intent',
    specs: (s) => withTool(s, 'write', { effect: 'observe' }),
    does: async (session) => {
      await to.edit(session);
      await session.step({ tool: 'write', args: { path: 'src/a.ts', content: '' } });
    },
  },
  {
    forgets: 'that a command kept within its scope (the sandbox saw more)',
    rule: 'effect',
    says: 'create of .git/hooks/pre-commit was observed',
    backend: withAnswer('bash', [{ path: '.git/hooks/pre-commit', op: 'create', after: 'f'.repeat(64) }]),
    does: async (session) => {
      await to.edit(session);
      await session.step({ tool: 'bash', args: { command: 'make' } });
    },
  },
  {
    forgets: 'that looking changes nothing (the sandbox saw a change)',
    rule: 'effect',
    says: 'bash-readonly may only observe',
    backend: withAnswer('bash-readonly', [{ path: 'src/a.ts', op: 'modify' }]),
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'bash-readonly', args: { command: 'ls' } });
    },
  },
  {
    forgets: 'that a command has no network (the sandbox saw a connection)',
    rule: 'effect',
    says: 'connect of evil.example was observed',
    backend: withAnswer('bash-test', [{ path: 'evil.example', op: 'connect' }]),
    does: async (session) => {
      await to.test(session);
      await session.step({ tool: 'bash-test' });
    },
  },
  {
    forgets: 'that no references move outside of deploy',
    rule: 'effect',
    says: 'ref of refs/heads/main was observed',
    backend: withAnswer('bash', [{ path: 'refs/heads/main', op: 'ref' }]),
    does: async (session) => {
      await to.edit(session);
      await session.step({ tool: 'bash', args: { command: 'git commit' } });
    },
  },
  {
    forgets: 'what a mode allows',
    rule: 'mode-effect',
    says: 'has the effect act',
    specs: (s) => withGate(s, { effects: { ...s.modeGate!.effects, diagnose: ['observe', 'act', 'coordinate'] } }),
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'read', args: ['src/a.ts'] });
      await session.hop({ to: 'edit', exit: 'ready-to-edit', reason: 'r' });
      await session.step({ tool: 'write', args: { path: 'src/a.ts', content: '' } });
    },
  },
  {
    forgets: 'the transitions of the mode gate',
    rule: 'mode',
    says: 'discuss → execute',
    specs: (s) =>
      withGate(s, {
        transitions: [...s.modeGate!.transitions, { from: 'discuss', to: 'execute', approval: null, summary: false }],
      }),
    does: (session) => session.setMode({ to: 'execute' }),
  },
  {
    forgets: 'the approval of a mode',
    rule: 'approval',
    says: 'the change of mode was not approved',
    specs: (s) => withGate(s, { transitions: s.modeGate!.transitions.map((one) => ({ ...one, approval: null })) }),
    does: async (session) => {
      await session.setMode({ to: 'diagnose' });
      await session.setMode({ to: 'execute' });
    },
  },
  {
    forgets: 'the summary',
    rule: 'mode',
    says: 'the summary is missing',
    specs: (s) => withGate(s, { transitions: s.modeGate!.transitions.map((one) => ({ ...one, summary: false })) }),
    does: async (session) => {
      await session.setMode({ to: 'diagnose' });
      await session.setMode({ to: 'execute' });
      await session.setMode({ to: 'discuss' });
    },
  },
  {
    forgets: "where the operator's reset leads",
    rule: 'mode',
    says: 'a reset changed the mode to diagnose',
    specs: (s) => withGate(s, { reset: 'diagnose' }),
    does: (session) => session.setMode({ to: 'diagnose', reset: true, by: 'operator' }),
  },
  {
    forgets: 'how long a mode may be idle',
    rule: 'mode',
    says: 'timed out too early',
    specs: (s) => withGate(s, { timeoutMinutes: 1 }),
    does: async (session, pass) => {
      await session.setMode({ to: 'diagnose' });
      pass(120_000);
      await session.start('explore');
    },
  },
  {
    forgets: 'that an idle mode times out',
    rule: 'mode',
    says: 'intent came in execute, although this mode had timed out',
    pinned: withGate(SPECS, { timeoutMinutes: 5 }),
    specs: (s) => withGate(s, { timeoutMinutes: null }),
    does: async (session, pass) => {
      await to.edit(session);
      pass(360_000);
      await session.step({ tool: 'edit', args: { path: 'src/a.ts', old: 'a', new: 'b' } });
    },
  },
  {
    forgets: 'which peripherals a mode allows',
    rule: 'mode',
    says: 'explore was entered in this mode',
    pinned: withGate(SPECS, { peripherals: { ...SPECS.modeGate!.peripherals, discuss: ['chat'] } }),
    specs: () => SPECS,
    does: (session) => session.start('explore'),
  },
  {
    forgets: 'which agents may enter',
    rule: 'agent',
    says: 'agent-1 entered explore',
    pinned: withPeripheral(SPECS, 'explore', { agents: ['somebody-else'] }),
    specs: () => SPECS,
    does: (session) => session.start('explore'),
  },
  {
    forgets: 'how one gets in',
    rule: 'entry',
    says: 'edit was entered at first, by the agent',
    specs: (s) => withPeripheral(s, 'edit', { entry: { sources: [{ kind: 'default' }], conditions: [] } }),
    does: (session) => session.start('edit'),
  },
  {
    forgets: 'from where one gets in',
    rule: 'entry',
    says: 'explore was entered from edit',
    specs: (s) =>
      withPeripheral(
        withPeripheral(s, 'explore', {
          entry: { sources: [{ kind: 'default' }, { kind: 'from-any' }], conditions: [] },
        }),
        'edit',
        {
          exits: [
            ...P['edit']!.exits,
            { name: 'back', opens: [{ to: 'explore', when: null }], implies: null, bound: true },
          ],
        },
      ),
    does: async (session) => {
      await to.edit(session);
      await session.hop({ to: 'explore', exit: 'back', reason: 'r' });
    },
  },
  {
    forgets: 'the natural close',
    rule: 'entry',
    says: 'nothing done since the last review',
    specs: (s) =>
      withPeripheral(s, 'reflect', {
        entry: {
          ...P['reflect']!.entry,
          sources: P['reflect']!.entry.sources.filter(({ kind }) => kind !== 'agent-request'),
        },
      }),
    does: async (session) => {
      await session.start('explore');
      await session.hop({ to: 'reflect', exit: 'hop-reflect', reason: 'r' });
    },
  },
  {
    forgets: 'the edges',
    rule: 'edge',
    says: 'a hop to reflect by found-target',
    specs: (s) =>
      withPeripheral(s, 'explore', {
        exits: P['explore']!.exits.map((exit) =>
          exit.name === 'found-target' ? { ...exit, opens: [...exit.opens, { to: 'reflect', when: null }] } : exit,
        ),
      }),
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'read', args: ['src/a.ts'] });
      await session.hop({ to: 'reflect', exit: 'found-target', reason: 'r' });
    },
  },
  {
    forgets: 'that an exit implies an observed value',
    rule: 'exit',
    says: 'result is "fail"',
    backend: answering({ verdict: 'fail' }),
    specs: (s) => {
      const open = withPeripheral(s, 'deploy', { entry: { ...P['deploy']!.entry, conditions: [] } });
      const free = withPeripheral(open, 'test', {
        exits: P['test']!.exits.map((exit) => ({ ...exit, implies: null })),
      });
      return withEdges(free, (edge) => ({
        ...edge,
        conditions: edge.to === 'deploy' ? [] : edge.conditions,
        implies: null,
      }));
    },
    does: async (session) => {
      await to.test(session);
      await session.step({ tool: 'bash-test' });
      await session.hop({ to: 'deploy', exit: 'pass', reason: 'r' });
    },
  },
  {
    forgets: 'when an exit opens',
    rule: 'exit',
    says: 'the rule of the exit did not hold',
    pinned: whenExit('fruit.changes > 5'),
    specs: () => whenExit('fruit.changes >= 0'),
    does: (session) => to.test(session),
  },
  {
    forgets: 'the conditions of an entry',
    rule: 'condition',
    says: 'deploy was entered while the condition did not hold',
    specs: (s) => withPeripheral(s, 'deploy', { entry: { ...P['deploy']!.entry, conditions: [] } }),
    does: async (session) => {
      await to.test(session);
      await session.step({ tool: 'bash-test' });
      await session.hop({ to: 'edit', exit: 'hop-edit', reason: 'r' });
      await session.step({ tool: 'write', args: { path: 'src/a.ts', content: '' } });
      await session.hop({ to: 'test', exit: 'hop-test', reason: 'r', fruit: { 'commit-message': 'm' } });
      await session.step({ tool: 'bash-test', args: { command: 'npm test' } });
      await session.step({ tool: 'bash-test', args: { command: 'npm test -- --grep x' } });
      await session.hop({ to: 'deploy', exit: 'pass', reason: 'r' });
    },
    backend: narrowed(),
  },
  {
    forgets: 'the approval of a hop',
    rule: 'approval',
    says: 'the hop was not approved',
    specs: (s) => withPeripheral(s, 'test', { gates: {} }),
    does: (session) => to.deploy(session),
  },
  {
    forgets: 'a gate rule in CEL',
    rule: 'gate',
    says: 'the rule of the gate did not hold',
    pinned: withPeripheral(SPECS, 'explore', { gates: { edit: [{ kind: 'when', cel: 'visit.steps > 1' }] } }),
    specs: () => SPECS,
    does: (session) => to.edit(session),
  },
  {
    forgets: 'a pattern gate',
    rule: 'gate',
    says: 'no outcome of the pattern is recorded',
    pinned: withPeripheral(SPECS, 'explore', {
      gates: { edit: [{ kind: 'pattern', pattern: 'small-steps', is: 'selected' }] },
    }),
    specs: () => SPECS,
    does: (session) => to.edit(session),
  },
  {
    forgets: 'the step limit',
    rule: 'limit',
    says: 'step 2 of the visit',
    pinned: withPeripheral(SPECS, 'explore', { limits: { steps: 1, minutes: null } }),
    specs: () => SPECS,
    does: async (session) => {
      await to.diagnose(session);
      await session.step({ tool: 'read', args: ['src/a.ts'] });
      await session.step({ tool: 'read', args: ['src/a.ts'] });
    },
  },
  {
    forgets: 'the time limit',
    rule: 'limit',
    says: 'the deadline is null',
    specs: (s) => withPeripheral(s, 'test', { limits: { steps: null, minutes: null } }),
    does: (session) => to.test(session),
  },
  {
    forgets: 'what an entry demands of the context',
    rule: 'context',
    says: 'entered without commit-message',
    specs: (s) =>
      withPeripheral(s, 'deploy', {
        context: Object.fromEntries(
          Object.entries(P['deploy']!.context).map(([field, rule]) => [field, { ...rule, optional: true }]),
        ),
      }),
    does: async (session) => {
      await to.edit(session);
      await session.step({ tool: 'write', args: { path: 'src/a.ts', content: '' } });
      await session.hop({ to: 'test', exit: 'hop-test', reason: 'r' });
      await session.step({ tool: 'bash-test' });
      await session.hop({ to: 'deploy', exit: 'pass', reason: 'r' });
    },
  },
  {
    forgets: 'which fruit there is',
    rule: 'fruit',
    says: 'the fruit holds verdict',
    specs: (s) =>
      withPeripheral(s, 'explore', {
        fruit: { ...P['explore']!.fruit, verdict: { kind: 'stated', type: 'string', optional: true } },
      }),
    does: async (session) => {
      await session.start('explore');
      await session.stop('r', { fruit: { verdict: 'good' } });
    },
  },
  {
    forgets: 'of which type a fruit is',
    rule: 'fruit',
    says: 'which is not of this type',
    specs: (s) =>
      withPeripheral(s, 'explore', {
        fruit: { ...P['explore']!.fruit, summary: { kind: 'stated', type: 'list', optional: true } },
      }),
    does: async (session) => {
      await session.start('explore');
      await session.stop('r', { fruit: { summary: ['a'] } });
    },
  },
  {
    forgets: 'that a fruit is observed, and takes the word of the agent',
    rule: 'fruit',
    says: 'result is "pass", but the evidence shows null',
    specs: (s) =>
      withPeripheral(s, 'test', {
        fruit: { ...P['test']!.fruit, result: { kind: 'stated', type: 'string', optional: false } },
      }),
    does: async (session) => {
      await to.test(session);
      await session.stop('r', { fruit: { result: 'pass' } });
    },
  },
  {
    forgets: 'the mode gate altogether',
    rule: 'mode-effect',
    says: 'has the effect observe',
    specs: free,
    does: async (session) => {
      await session.start('explore');
      await session.step({ tool: 'read', args: ['src/a.ts'] });
    },
  },
];

type Effects = { path: string; op: 'create' | 'modify' | 'connect' | 'ref'; after?: string }[];

/** The usual answers, except for one tool whose sandbox observed another effect. */
function withAnswer(tool: string, effects: Effects): ReturnType<typeof answering> {
  const usual = answering();
  return {
    ...usual,
    run: async (call) => {
      const report = await usual.run(call);
      return call.tool.id === tool ? { ...report, effects } : report;
    },
  };
}

/** A test tool that says itself whether arguments narrowed the run; only such runs pass after the first. */
function narrowed(): ReturnType<typeof answering> {
  const usual = answering();
  let runs = 0;
  return {
    ...usual,
    run: async (call) => {
      const report = await usual.run(call);
      if (call.tool.id !== 'bash-test' || report.outcome.status !== 'ok' || runs++ === 0) return report;
      return {
        ...report,
        outcome: { status: 'ok', result: { ...(report.outcome.result as object), narrowed: true, others: [] } },
      };
    },
  };
}

function whenExit(cel: string): SpecSet {
  return withPeripheral(SPECS, 'edit', {
    exits: SPECS.peripherals['edit']!.exits.map((exit) =>
      exit.name === 'hop-test' ? { ...exit, opens: [{ to: 'test', when: cel }] } : exit,
    ),
  });
}

describe('a broken engine', () => {
  it.each(BROKEN)(
    'that forgets $forgets is noticed',
    async ({ rule, says, pinned = SPECS, config = CONFIG, specs, engineConfig, backend, does }) => {
      const engine = specs ? specs(pinned) : pinned;
      const at = await world({
        // The test tool's own report is ignored; the pinned configuration decides.
        specs: { ...engine, hash: pinned.hash },
        config: { ...config, ...engineConfig },
        ...(backend ? { backend } : {}),
      });
      await does(at.session, at.pass);
      const { ok, violations } = await verifyConstraints({ specs: pinned, config }, at.store.entries(at.session.id));
      expect(ok).toBe(false);
      const words = violations.map((one) => `${one.rule}: ${one.constraint}: ${one.message}`);
      expect(words).toContainEqual(
        expect.stringMatching(new RegExp(`^${rule}: .*${says.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)),
      );
    },
  );
});
