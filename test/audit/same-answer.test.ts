import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyToAuditState } from '../../src/audit/rules/apply-to-audit-state.ts';
import { initialAuditState } from '../../src/audit/rules/audit-state.ts';
import { findFirstRuleProblem } from '../../src/audit/rules/find-rule-problems.ts';
import { splitWords } from '../../src/base/text.ts';
import { sessionViewAfterEntry } from '../../src/cli/commands/specs/explain.ts';
import { toBody } from '../../src/evidence/bodies.ts';
import { decide } from '../../src/gate/decide.ts';
import { SessionReader } from '../../src/server/session-reader.ts';
import { replayDecisions } from '../../src/session/replay-decisions.ts';
import { recordsIntent } from '../../src/spec/policy/tool-effects.ts';
import { DEFAULT_PROJECT_CONFIG } from '../../src/spec/resolve/parse-project-config.ts';
import {
  ARGUMENT_ROLES,
  type ArgumentRole,
  type Json,
  type ModeGateSpec,
  type ProjectConfig,
  type ScopeRule,
  type SpecSet,
  TOOL_EFFECTS,
  type ToolEffect,
  type ToolGate,
  type ToolSpec,
} from '../../src/spec/types.ts';
import { scriptedBackend } from '../../src/testing/doubles/scripted-backend.ts';
import { depth, isDeep } from '../depth.ts';
import { SPECS, world } from './audited-session.ts';

/** Calls in one session. */
const CALLS = 40;
/** Sessions; `HOPGATE_CALLS=100000` judges as many calls, which takes minutes. */
const SESSIONS = Number(process.env['HOPGATE_CALLS'] ?? depth(16, 400) * CALLS) / CALLS;

const P = SPECS.peripherals['explore']!;
const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);

const rule: fc.Arbitrary<Omit<Required<ScopeRule>, 'agency'>> = fc.record({
  read: pick('root', 'session-log', 'none'),
  write: fc.subarray(['src/', 'docs', '!src/gen', '*.md']),
  command: pick('none', 'read-only', 'contained', 'test', 'test', 'deploy', 'deploy'),
  url: pick('none', 'allow-list', 'allow-list'),
  resource: fc.subarray(['db:a/*', '!db:a/secret', 'queue', 'files/**', '!files/a/*']),
});

const schema = pick<{ readonly [keyword: string]: Json }>(
  {},
  { type: 'string' },
  { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
  { type: 'array', items: { type: 'string' } },
  { default: 'src/a.ts' },
  { default: 'https://evil.com' },
  { default: null },
  { default: 900 },
  { default: [], type: 'array', items: { type: 'string' } },
);

/** Requirements of calls: rules over arguments, which may be absent or of another type, and approvals. */
const gates: fc.Arbitrary<readonly ToolGate[]> = fc.oneof(
  fc.constant([]),
  fc.constant<readonly ToolGate[]>([{ kind: 'approval', by: 'operator' }]),
  fc.subarray<ToolGate>(
    [
      { kind: 'when', cel: 'args.p0 != "git push"' },
      { kind: 'when', cel: 'size(args.p0) < 12' },
      { kind: 'when', cel: '!has(args.p1) || args.p1 != "queue"' },
      { kind: 'when', cel: 'session.mode != "b"' },
      { kind: 'approval', by: 'operator' },
    ],
    { maxLength: 2 },
  ),
);

const effect = pick<ToolEffect>(...TOOL_EFFECTS, 'act', 'simulate');
const MODES = ['a', 'b', 'c'];

const modeGate: fc.Arbitrary<ModeGateSpec | null> = fc.option(
  fc
    .record({
      effects: fc.tuple(
        ...MODES.map(() => fc.subarray([...TOOL_EFFECTS], { minLength: 1 }).filter((some) => some.length !== 2)),
      ),
      transitions: fc.subarray(
        MODES.flatMap((from) => MODES.filter((to) => to !== from).map((to) => ({ from, to }))),
        { minLength: 3 },
      ),
    })
    .map(({ effects, transitions }) => ({
      initial: 'a',
      effects: Object.fromEntries(MODES.map((mode, at) => [mode, effects[at]!])),
      peripherals: { a: null, b: null, c: null },
      transitions: transitions.map((leg) => ({ ...leg, approval: null, summary: leg.to === 'c' })),
      reset: 'a',
      timeoutMinutes: null,
    })),
  { freq: 3 },
);

/** The loader refuses an approval for a tool without an intent. */
const lawful = (tool: ToolSpec | undefined, rules: readonly ToolGate[] = []): readonly ToolGate[] =>
  recordsIntent(tool) ? rules : rules.filter(({ kind }) => kind === 'when');

const ownTool: fc.Arbitrary<ToolSpec> = fc.record({
  id: pick('post', 'run', 'my-git', 'migrate', 'ask-npm'),
  purpose: fc.constant(''),
  effect,
  gates,
  parameters: fc
    .array(fc.record({ role: pick(...ARGUMENT_ROLES), schema, required: fc.boolean() }), { minLength: 1, maxLength: 3 })
    .map((all) => all.map((one, at) => ({ ...one, name: `p${at}`, description: '' }))),
  limits: fc.constant({ seconds: 1, outputBytes: 1000 }),
});

const config: fc.Arbitrary<ProjectConfig> = fc
  .record({
    test: fc.subarray([
      { run: ['npm', 'test', '--', '{args}'], report: 'tap' as const },
      { run: ['make', 'check'], report: 'none' as const },
      { run: ['npm', '{args}', 'last'], report: 'none' as const },
    ]),
    deploy: fc
      .subarray(['staging', 'git', 'all'])
      .map((names) => Object.fromEntries(names.map((name) => [name, { run: ['./ship', name], network: false }]))),
    install: fc.subarray(
      [
        { run: ['npm', 'ci'], scripts: false, approval: false },
        { run: ['pip', 'install'], scripts: true, approval: false },
      ],
      { minLength: 1 },
    ),
    git: pick(null, { remote: 'origin', branch: 'main' }, { remote: 'up', branch: ['main', 'agent/*', 'a/**'] }),
    web: fc.record({
      allow: fc.subarray([
        'docs.example.com',
        '*.example.org',
        'host.example:8443',
        'host.example:443',
        '[::1]',
        '*.com',
      ]),
    }),
    mask: fc.subarray(['.env', 'secret/', '*.key']),
  })
  .map((over) => ({ ...DEFAULT_PROJECT_CONFIG, ...over }));

const WORDS = [
  ...splitWords('npm test -- one.test.ts make check last ci pip install ./ship staging all'),
  ...[
    'git',
    'push',
    'commit',
    '-m',
    "'fix: a'",
    '"a b"',
    'origin',
    'up',
    'main',
    'agent/x',
    'a/b/c',
    'HEAD',
    '--force',
  ],
  ...splitWords('-f switch -c -cagent/y checkout -b branch -D status -sb diff --cached log'),
  ...[
    '-5',
    '-n',
    '3',
    '-n3',
    '--max-count=2',
    'show',
    'add',
    '-A',
    '.',
    '.env',
    'src/a.ts',
    '../x',
    'restore',
    '--staged',
  ],
  ...[
    'rev-parse',
    'main..HEAD',
    'HEAD~1',
    'refs/heads/main',
    '.git/config',
    'rm',
    '-rf',
    '/',
    'a=b',
    '~',
    '#x',
    '{a,b}',
  ],
  ...[';', '&&', '|', '>', '$x', '`x`', '*', '\\', "'", '"', '\n', 'é', '!', 'if', '--set-upstream', '--amend', '-am'],
];
/** Lines that some configuration grants. */
const LINES = [
  ...['npm test', 'npm test --', 'npm test -- a b', "npm test -- 'a b'", 'make check', 'make check x', 'npm x last'],
  ...['npm ci', 'pip install', './ship staging', './ship all', './ship git', 'staging', 'all', 'git', 'git status'],
  ...['git push', 'git push origin main', 'git push up agent/x', 'git push up main', 'git switch -c agent/x', 'push'],
  ...['git add -A', 'git add .env', 'git add a.key', 'git commit -m x', 'git branch a/b', 'git branch main', 'commit'],
  ...[
    'push origin main',
    'push up agent/x',
    'switch main',
    'add src/a.ts',
    'git diff -- secret/x',
    'git log -5 -- ../x',
  ],
];
const line = fc.oneof(
  { weight: 2, arbitrary: pick(...LINES) },
  fc.array(pick(...WORDS), { maxLength: 5 }).map((words) => words.join(' ')),
);
const url = fc.oneof(
  pick(
    ...[
      'https://docs.example.com/a',
      'http://docs.example.com.',
      'https://DOCS.example.com:443',
      'https://x.example.org',
    ],
    ...['https://host.example', 'https://host.example:8443/', 'http://host.example:443', 'file:///etc/passwd', 'x', ''],
    ...splitWords('https://u@docs.example.com https://docs.example.com@evil.org https://[::1]/ https://evil.com //a'),
  ),
  fc.webUrl(),
);
const path = pick(
  ...[
    'src/a.ts',
    'docs',
    'docs/x.md',
    'README.md',
    'src/gen/a',
    '../x',
    '/etc/passwd',
    '/repo/src/b',
    '.env',
    '.git/config',
  ],
  ...['a.key', 'secret/x', '', 'a\0b', '.', 'src/../..', 'hopgate.yaml'],
);
const text = fc.oneof({ weight: 4, arbitrary: line }, url, path, fc.string({ unit: 'grapheme-ascii', maxLength: 12 }));
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 8, arbitrary: text },
  fc.array(pick(...WORDS), { maxLength: 5 }),
  pick(...LINES).map((each) => each.split(' ')),
  fc.array(fc.oneof(path, url), { maxLength: 2 }),
  pick<Json>(null, 7, true, {}),
);

const resource = pick(
  ...splitWords('db:a/x db:a/secret db:b/x db:a db:a/x/y queue files/a/b files Files/a'),
  ...['db:a/*', 'db:a/../b', 'db:a//x', '', ' ', 'db:a/x ', 'db:a/%2e'],
);

/** Values that an argument of a role may get, mostly of its kind. */
const OF_ROLE: { readonly [role in ArgumentRole]: fc.Arbitrary<Json> } = {
  'path:read': fc.oneof({ weight: 4, arbitrary: path }, value),
  'path:write': fc.oneof({ weight: 4, arbitrary: path }, value),
  command: fc.oneof({ weight: 4, arbitrary: line }, value),
  url: fc.oneof({ weight: 4, arbitrary: url }, value),
  resource: fc.oneof({ weight: 4, arbitrary: resource }, value),
  agency: fc.oneof({ weight: 4, arbitrary: pick<Json>('review', 'fixer', 'other', '') }, value),
  text: value,
};

const ofTool = (specs: SpecSet, tool: string) =>
  fc.record({
    tool: fc.constant(tool),
    args: fc
      .tuple(
        ...(specs.tools[tool]?.parameters ?? []).map(({ role }) =>
          fc.option(OF_ROLE[role], { nil: undefined, freq: 6 }),
        ),
      )
      .map((values) =>
        Object.fromEntries(
          values.flatMap((each, at) =>
            each === undefined ? [] : [[specs.tools[tool]!.parameters[at]!.name, each] as const],
          ),
        ),
      ),
  });

/** Built-in tools with a role that a scope judges, and tools of the user. */
const SHIPPED = [
  'read',
  'write',
  'bash',
  'bash-readonly',
  'bash-background',
  'bash-test',
  'bash-git',
  'bash-deploy',
  'install',
  'web-fetch',
];

const situation: fc.Arbitrary<Situation> = fc
  .record({
    scope: rule,
    tools: fc.uniqueArray(ownTool, { selector: ({ id }) => id, maxLength: 3 }),
    calls: fc.dictionary(pick('post', 'run', 'migrate', 'bash', 'write'), gates, { maxKeys: 2 }),
    modeGate,
    config,
    other: config,
  })
  .chain(({ scope, tools, calls: here, modeGate, ...configs }) => {
    const own = Object.fromEntries(tools.map((tool) => [tool.id, { ...tool, gates: lawful(tool, tool.gates) }]));
    const known = { ...SPECS.tools, ...own };
    const bound = Object.entries(here).map(([id, rules]) => [id, lawful(known[id], rules)]);
    const specs: SpecSet = {
      ...SPECS,
      modeGate,
      tools: known,
      peripherals: {
        ...SPECS.peripherals,
        explore: {
          ...P,
          tools: [...SHIPPED, ...Object.keys(own)],
          scope: { name: 'x', rule: scope },
          calls: Object.fromEntries(bound),
        },
      },
    };
    const all = [...SHIPPED, ...Object.keys(own), ...Object.keys(own)];
    const call = fc.oneof(...all.map((tool) => ofTool(specs, tool)));
    const change = fc.record({ mode: pick(...MODES, 'execute'), summary: pick('', 'done') });
    const calls = fc.array(fc.tuple(call, fc.option(change, { freq: 3 }), fc.boolean()), {
      minLength: CALLS,
      maxLength: CALLS,
    });
    return fc.record({ specs: fc.constant(specs), ...mapConstant(configs), calls });
  });

interface Situation {
  readonly specs: SpecSet;
  readonly config: ProjectConfig;
  /** Settings under which the session is replayed. */
  readonly other: ProjectConfig;
  /** Each call, the mode change before it, and true if the operator approves the call when it needs an approval. */
  readonly calls: readonly (readonly [
    call: { readonly tool: string; readonly args: { readonly [name: string]: Json } },
    change: { readonly mode: string; readonly summary: string } | null,
    approves: boolean,
  ])[];
}

const yes = { via: 'approver', approve: async () => ({ by: 'ann' }) } as const;

const mapConstant = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).map(([key, each]) => [key, fc.constant(each)])) as {
    [K in keyof T]: fc.Arbitrary<T[K]>;
  };

/** The code of the refusal by each judge, and whether other settings change the answer. */
async function judge({ specs, config, other, calls }: Situation, seen: { [answer: string]: number }): Promise<void> {
  const answers = Object.keys(specs.tools).map((id) => [id, () => ({})] as const);
  const { session, store } = await world({ specs, config, backend: scriptedBackend(Object.fromEntries(answers)) });
  await session.start('explore');
  const reader = await SessionReader.open({ store, stateDir: '/nowhere' }, session.id);
  const state = initialAuditState({ specs, config });
  let next = 0;
  let changed = 0;
  const fold = async () => {
    for await (const { entry } of store.entries(session.id, { from: next })) {
      applyToAuditState(state, entry, toBody(entry.body), Date.parse(entry.at));
      next = entry.seq + 1;
    }
  };
  for (const [call, change, approves] of calls) {
    await fold();
    if (change) {
      const asked = { kind: 'mode', to: change.mode, summary: change.summary, by: 'agent' } as const;
      const audit = findFirstRuleProblem(state, { ...asked, approves: false })?.code ?? 'allow';
      const real = await session.setMode({ to: change.mode, summary: change.summary });
      expect({ change, audit }).toEqual({ change, audit: real.ok ? 'allow' : real.denial.code });
      await fold();
    }
    const asked = { kind: 'step', ...call } as const;
    const view = sessionViewAfterEntry('/repo', 'explore', session.state.mode);
    await reader.catchUp(store);
    const dryRun = (settings: ProjectConfig) => {
      const at = { ...view, files: [...state.files] };
      const decision = decide({ specs, config: settings, view: at, unsafeNoSandbox: false }, asked);
      return decision.ok ? 'allow' : decision.denial.code;
    };
    const answersNow = {
      why: session.why(call)?.code ?? 'allow',
      audit: findFirstRuleProblem(state, asked)?.code ?? 'allow',
      explain: dryRun(config),
      explainSession: reader.why(asked)?.code ?? 'allow',
    };
    const real = await session.step(call, { approver: approves ? yes : null });
    const code = real.ok ? 'allow' : real.denial.code;
    // The other judges answer without the approval.
    const answer = real.ok && real.evidence.some(({ tags }) => tags.includes('approval')) ? 'approval-required' : code;
    const setup = { call, config, here: specs.peripherals['explore'], tool: specs.tools[call.tool] };
    const equal = { why: answer, audit: answer, explain: answer, explainSession: answer };
    expect({ ...answersNow, setup }).toEqual({ ...equal, setup });
    expect(findFirstRuleProblem(state, { ...asked, approves })?.code ?? 'allow').toBe(code);
    const later = dryRun(other);
    if ((later === 'allow' || (later === 'approval-required' && real.ok)) !== real.ok) changed += 1;
    seen[answer] = (seen[answer] ?? 0) + 1;
  }
  const { changes, drift } = await replayDecisions(
    { specs, config },
    { specs, config: other },
    session.id,
    store.entries(session.id),
  );
  expect(drift).toEqual([]);
  expect(changes).toHaveLength(changed);
  await session.detach();
  seen['changed'] = (seen['changed'] ?? 0) + changed;
}

it('gate, audit, explain, why and replay answer each call as the session does', async () => {
  const seen: { [answer: string]: number } = {};
  const { seed } = fc.readConfigureGlobal() ?? {};
  for (let run = 0; run < SESSIONS; run++) {
    const [one] = fc.sample(situation, { numRuns: 1, seed: 1000 * run + (seed ?? Date.now() % 1000) });
    await judge(one!, seen);
  }
  expect(Object.keys(seen)).toEqual(
    expect.arrayContaining(['allow', 'invalid-action', 'mode-forbids', 'out-of-scope']),
  );
  if (!isDeep) return;
  expect(Object.keys(seen).sort()).toEqual(
    splitWords('allow approval-required changed condition-failed invalid-action mode-forbids out-of-scope'),
  );
  expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(SESSIONS / 40);
});
