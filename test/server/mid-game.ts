import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { hopgateCommandLine } from '../../src/cli/client/client-program.ts';
import { storySpecs } from '../../src/cli/world/story-specs.ts';
import { trustCurrentConfig } from '../../src/project/trust.ts';
import { serveWorld as serveHouse } from '../../src/world/serve/world-server.ts';
import { serveWorld } from './serve-world.ts';

/** An agent in the middle of a game, over HTTP, in a world that can be killed. */
export async function midGame() {
  let house = await serveHouse({ choice: { seed: 6 }, port: 0 });
  onTestFinished(() => house.close());
  const [{ file, text }] = storySpecs(`:alfworld-server "${house.address}" :seed 6`) as [
    { file: string; text: string },
  ];
  const served = await serveWorld({ 'hopgate.yaml': 'specs: specs\n', [`specs/${file}`]: text });
  const [node = '', ...args] = hopgateCommandLine();
  const env = { ...process.env, ...served.env, HOPGATE_DAEMON: 'off' };
  // Without the daemon, which would keep the session for a while. Asynchronous: the server of this process releases the
  // session meanwhile.
  const run = promisify(execFile);
  const hopgate = (...words: string[]) => run(node, [...args, ...words, '--root', served.root], { env });
  await trustCurrentConfig(served.root, served.env);
  const body = { root: served.root, agent: 'builder', peripheral: 'alfworld' };
  const { json } = await served.ask('POST /v1/sessions', { token: served.agent, body });
  const { session: id, token } = json;
  const post = (what: string, body: object, as = token) =>
    served.ask(`POST /v1/sessions/${id}/${what}`, { token: as, body });
  const play = async (action: string) => (await post('step', { tool: 'alfworld-action', args: { action } })).json;
  expect(await play('look')).toMatchObject({ ok: true, outcome: 'ok', result: { step: 0 } });
  const [place] = /go to (?:\w+ \d+)/.exec((await play('fly')).result.text)!;
  expect(await play(place)).toMatchObject({ result: { step: 2 } });
  return {
    served,
    id,
    house: async () => (await fetch(`${house.address}/state`)).text(),
    post,
    play,
    hopgate,
    async restart() {
      const { port } = new URL(house.address);
      await house.close();
      house = await serveHouse({ choice: { seed: 6 }, port: Number(port) });
    },
  };
}
