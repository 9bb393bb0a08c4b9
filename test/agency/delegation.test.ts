import { describe, expect, it } from 'vitest';
import { trustCurrentConfig } from '../../src/project/trust.ts';
import { serveWorld } from '../server/serve-world.ts';
import { agencyWith, countingAgent } from './agency-nodes.ts';

const agencyPeripheral = (id: string, more = '') =>
  `${id}:\n  entry: Work.\n  inputs: []\n  prompt-template: Work.\n  response: { type: text }\n${more}`;

const SPECS = {
  'hopgate.yaml': 'specs: specs\n',
  'specs/gate.yaml': `modes: { talk: { effects: [coordinate] }, act: { effects: [observe, act, coordinate] } }
initial: act
reset: act
transitions: [{ from: act, to: talk }, { from: talk, to: act }]
`,
  'specs/peripherals/control.yaml': `id: control
purpose: Leads the work.
tools: [read]
scope: full-codebase
entry: [default, from-any]
exit: { over: apart }
delegates: [{ agency: review }, { agency: worker, within: own }, { agency: idle }]
`,
  'specs/peripherals/apart.yaml': `id: apart
purpose: Works alone.
tools: [read]
scope: full-codebase
entry: [from-control]
exit: { back: control }
delegates: []
`,
};

async function world() {
  const agent = await countingAgent();
  const agents = `x: { location: local, driver: http, url: "${agent.url}", honours: [fs, shell, http] }`;
  const tools = '  tools: { shell: true, fs: true, http: true }\n';
  const peripherals = [
    agencyPeripheral('review'),
    agencyPeripheral('worker', tools),
    agencyPeripheral('idle', tools),
    agencyPeripheral('other'),
  ].join('');
  const served = await serveWorld({ 'src/a.ts': 'one\n', ...SPECS }, { agencyFolder: agencyWith(agents, peripherals) });
  await trustCurrentConfig(served.root, served.env);
  const { json } = await served.ask('POST /v1/sessions', {
    token: served.agent,
    body: { root: served.root, agent: 'builder', peripheral: 'control' },
  });
  const { session: id, token } = json;
  const run = (peripheral: string, key?: string) =>
    served.ask('POST /agency/run', {
      token,
      body: { 'agent-id': 'x', peripheral, inputs: {} },
      ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
    });
  const delegations = async () =>
    (await served.ask(`GET /v1/sessions/${id}/evidence`)).json.entries.filter(
      ({ body }: { body: { event: string } }) => body.event === 'delegation',
    );
  const ask = (what: string, body: object) => served.ask(`POST /v1/sessions/${id}/${what}`, { token, body });
  return { agent, run, delegations, ask };
}

describe('a run of the agency by a session whose peripheral has delegates', () => {
  it('may enter the delegates of that peripheral, with tools if they have `within: own`, and is recorded', async () => {
    const { agent, run, delegations } = await world();
    expect((await run('review')).json).toMatchObject({ ok: true });
    expect((await run('worker', 'k1')).json).toMatchObject({ ok: true });
    expect((await run('worker', 'k1')).json).toMatchObject({ ok: true });
    expect(agent.prompts).toHaveLength(2);
    const bodies = (await delegations()).map(({ body }: { body: object }) => body);
    expect(bodies).toMatchObject([
      { from: 'control', to: 'review', within: 'parent', session: null, agency: { acts: false } },
      { from: 'control', to: 'worker', within: 'own', session: null, agency: { run: 'k1', acts: true } },
    ]);
  });

  it('is refused in other peripherals, with tools that the parent cannot give, and in a mode that does not allow acting', async () => {
    const { agent, run, ask, delegations } = await world();
    const refusal = async (peripheral: string) => {
      const { status, json } = await run(peripheral);
      return [status, json.error.message];
    };
    expect(await refusal('other')).toEqual([403, 'no agent may run in other from control']);
    expect(await refusal('idle')).toEqual([
      403,
      'no agent may run in idle from control: the agent would have tools, which control may not give it',
    ]);
    await ask('mode', { to: 'talk' });
    expect(await refusal('worker')).toEqual([403, 'worker cannot be entered in mode talk']);
    await ask('mode', { to: 'act' });
    await ask('hop', { to: 'apart', exit: 'over', reason: 'alone' });
    expect(await refusal('review')).toEqual([403, 'no agent may run in review from apart']);
    expect(agent.prompts).toEqual([]);
    expect(await delegations()).toEqual([]);
  });
});
