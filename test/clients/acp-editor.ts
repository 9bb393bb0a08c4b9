import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, ndJsonStream, type RequestPermissionRequest, type SessionUpdate } from '@agentclientprotocol/sdk';
import { onTestFinished } from 'vitest';

/** A real `hopgate acp` around an agent, and the SDK's client as an editor whose user allows everything. */
export async function acpEditor(root: string, env: NodeJS.ProcessEnv, inner: string) {
  const argv = [resolve('src/cli/main.ts'), 'acp', '--root', root, '--', inner];
  const child = spawn(process.execPath, argv, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.once('close', done));
  const [updates, asked]: [SessionUpdate[], RequestPermissionRequest[]] = [[], []];
  const { agent } = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: 'selected', optionId: 'allow' } };
    })
    .connect(
      ndJsonStream(
        Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
      ),
    );
  const quit = () => {
    child.stdin.end();
    return ended;
  };
  onTestFinished(async () => void (await quit()));
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const prompt = (sessionId: string, text: string) =>
    agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  /** The words of the person at the editor, as the agent repeats them. */
  const repeated = () =>
    updates.flatMap((update) =>
      update.sessionUpdate === 'user_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
    );
  return { agent, updates, asked, prompt, repeated, quit };
}
