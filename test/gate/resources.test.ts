import fc from 'fast-check';
import { expect, it } from 'vitest';
import { resourceRefusalReason as audited } from '../../src/audit/rules/step-problems.ts';
import { verifyConstraints } from '../../src/audit/verify/verify-constraints.ts';
import { resourceProblem } from '../../src/gate/scope/resource-problem.ts';
import type { ToolBackend, ToolReport } from '../../src/ports/tool-backend.ts';
import { parseSpecSet } from '../../src/spec/resolve/parse-spec-set.ts';
import type { Json } from '../../src/spec/types.ts';
import { CONFIG, specsOf, stage } from '../session/sessions.ts';

const PATTERNS = ['db:staging/*', '!db:staging/secrets', 'queue:mail', 'files/**'];

const answer = (name: Json, patterns: readonly string[] = PATTERNS) => {
  const problem = resourceProblem(name, patterns);
  return problem === null ? 'allow' : problem.invalid ? 'invalid' : 'out';
};

it.each([
  ['db:staging/users', 'allow'],
  ['db:staging/secrets', 'out'],
  ['db:staging/Secrets', 'out'],
  ['db:live/users', 'out'],
  ['db:staging/users/rows', 'out'],
  ['db:staging', 'out'],
  ['DB:staging/users', 'out'],
  ['queue:mail', 'allow'],
  ['queue:mail2', 'out'],
  ['files/a/b', 'allow'],
  [['queue:mail', 'db:staging/users'], 'allow'],
  [['queue:mail', 'db:live/users'], 'out'],
  ['db:staging/*', 'invalid'],
  ['db:staging/../live/users', 'invalid'],
  ['db:staging//users', 'invalid'],
  ['db:staging/%2e%2e', 'invalid'],
  ['db:staging/users db:live/users', 'invalid'],
  ['db:staging/users\n', 'invalid'],
  ['', 'invalid'],
  [7, 'invalid'],
  [null, 'invalid'],
  [{ table: 'users' }, 'invalid'],
] as const)('the scope’s judgement on the resource %j is: %s', (name, expected) => {
  expect(answer(name as Json)).toBe(expected);
});

it('the refusal of an invalid resource name quotes the name', () => {
  const why = '"db/../x" is not the name of a resource: it contains an empty name, "." or ".."';
  expect(resourceProblem(['queue:mail', 'db/../x'], PATTERNS)?.why).toBe(why);
  expect(resourceProblem('db:\u202ex', PATTERNS)?.why).toMatch('it contains "\\u{202e}"');
});

it('the gate and the audit agree on names and patterns of resources', () => {
  const part = fc.constantFrom('a', 'A', 'ab', 'b', 'db:x', '*', 'a*', '*b', 'a*b', '**', '..', '', ' ');
  const text = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const pattern = fc.tuple(fc.constantFrom('', '', '!'), text).map((both) => both.join(''));
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 3 }), text, (resource, name) => {
      const second =
        audited({ read: 'none', write: [], command: 'none', url: 'none', resource }, name)?.code ?? 'allow';
      const words = { allow: 'allow', out: 'out-of-scope', invalid: 'invalid-action' } as const;
      expect(second).toBe(words[answer(name, resource)]);
    }),
    { numRuns: 2000 },
  );
});

const FILES = {
  'tools.yaml': `tools:
  query:
    purpose: Asks the database.
    effect: observe
    parameters: [{ name: table, role: resource, description: The table. }, { name: limit, role: text, description: Rows., schema: { type: integer } }]
    limits: { seconds: 5, output-bytes: 100 }
  alter:
    purpose: Changes a table.
    effect: act
    parameters: [{ name: table, role: resource, description: The table. }, { name: rows, role: text, description: How many., schema: { type: integer } }]
    limits: { seconds: 5, output-bytes: 100 }
`,
  'peripherals/staging.yaml': `id: staging
purpose: Work on staging.
tools: [query, alter]
scope: { resource: [db:staging/*] }
calls: { query: [{ when: args.limit <= 500 }], alter: [{ when: args.rows < 100 }, { approval: operator }] }
entry: [default, from-live]
exit: { live: live }
`,
  'peripherals/live.yaml': `id: live
purpose: Look at the live data.
tools: [query]
scope: { resource: [db:live/*] }
entry: [from-staging]
exit: { back: staging }
`,
};

async function database(report: Partial<ToolReport> = {}) {
  const ran: Json[] = [];
  const backend: ToolBackend = {
    name: 'database',
    tools: ['query', 'alter'],
    run: async ({ args }) => {
      ran.push(args as Json);
      return { outcome: { status: 'ok', result: null }, effects: [], ...report };
    },
  };
  const specs = specsOf(FILES);
  const asked: Json[] = [];
  const approver = {
    via: 'approver',
    approve: async ({ view }: { view: object }) => {
      asked.push(view as Json);
      return { by: 'ann' };
    },
  } as const;
  const at = await stage({ specs, backends: [backend], approver });
  await at.session.start('staging');
  const call = async (tool: string, args: Json) => {
    const why = at.session.why({ tool, args })?.code;
    const done = await at.session.step({ tool, args });
    const code = done.ok ? 'done' : done.denial.code;
    if (code !== 'done') expect(why).toBe(code);
    return code;
  };
  const verify = () => verifyConstraints({ specs, config: CONFIG }, at.store.entries(at.session.id));
  return { ...at, call, ran, asked, verify };
}

it('a session of a database operator stays within the scope of resources and the rules of the peripheral', async () => {
  const { session, call, ran, asked, verify } = await database();
  expect(await call('query', ['db:staging/users', 10])).toBe('done');
  expect(await call('query', ['db:live/users', 10])).toBe('out-of-scope');
  expect(await call('query', ['db:staging/users', 501])).toBe('condition-failed');
  expect(await call('alter', ['db:staging/users', 5000])).toBe('condition-failed');
  expect(asked).toEqual([]);
  expect(await call('alter', ['db:staging/users', 5])).toBe('done');
  expect(asked).toMatchObject([{ args: { table: 'db:staging/users', rows: 5 } }]);
  await session.hop({ to: 'live', exit: 'live', reason: 'compare' });
  expect(await call('query', ['db:live/users', 10_000])).toBe('done');
  expect(await call('query', ['db:staging/users', 1])).toBe('out-of-scope');
  expect(ran).toHaveLength(3);
  expect(await verify()).toMatchObject({ ok: true, violations: [] });
});

it.each([
  ['args.limit <= 500', 'Call it with arguments for which the rule holds, or ask the operator.'],
  ['args.limit <= backpack.limit', 'Continue until the rule holds, or ask the operator.'],
  ['visit.steps > 3', 'Continue until the rule holds, or ask the operator.'],
])('a refusal by the rule %s advises: %s', async (when, remedy) => {
  const staging = FILES['peripherals/staging.yaml'].replace('args.limit <= 500', () => when);
  const { session } = await stage({ specs: specsOf({ ...FILES, 'peripherals/staging.yaml': staging }) });
  await session.start('staging');
  expect(session.why({ tool: 'query', args: ['db:staging/users', 501] })).toMatchObject({ remedy });
});

it('the audit finds a call, and an observed effect, beyond the scope', async () => {
  const { call, verify, store, session } = await database({ effects: [{ path: 'db:live/users', op: 'resource' }] });
  await call('query', ['db:staging/users', 10]);
  expect((await verify()).violations).toMatchObject([{ rule: 'effect', constraint: 'resource: db:staging/*' }]);
  const forged = [];
  for await (const { entry } of store.entries(session.id)) {
    const body = entry.body as { event: string; args?: object };
    const args = { table: 'db:live/users', limit: 700 };
    forged.push(body.event === 'step' ? { ...entry, body: { ...body, args, effects: [] } } : entry);
  }
  const { violations } = await verifyConstraints({ specs: specsOf(FILES), config: CONFIG }, forged as never);
  expect(violations.map(({ rule }) => rule)).toEqual(['scope', 'gate']);
});

it('the check of a spec names mistakes in patterns of resources and in rules of calls', () => {
  const problems = (from: string, to: string) => {
    const sources = Object.entries(FILES).map(([file, text]) => ({ file, text: text.replace(from, to) }));
    const parsed = parseSpecSet(sources);
    return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  expect(problems('', '')).toEqual([]);
  expect(problems('[db:staging/*]', '["!db:staging/x"]').join()).toContain('only excludes');
  expect(problems('[db:staging/*]', '["db:../x"]').join()).toContain('is not a pattern of resources');
  expect(problems('[db:staging/*]', '["db:{a,b}/*"]').join()).toContain('it contains "{", which is not allowed');
  expect(problems('[db:staging/*]', '["db:**"]').join()).toContain('** has to be a whole name');
  expect(problems('calls: { query:', 'calls: { qery:').join()).toContain('"qery" is not among the tools');
  expect(problems('args.limit <= 500', 'args.limt <= 500').join()).toContain('unknown fact "args.limt"');
  expect(problems('{ when: args.limit <= 500 }', '{ approval: operator }').join()).toContain(
    'a tool to observe needs no approval',
  );
});
