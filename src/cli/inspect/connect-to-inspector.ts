import { once } from 'node:events';
import { WebSocket } from 'ws';
import { requestProblem } from '../../base/http.ts';
import { CliError, usageError } from '../io.ts';
import type { SendToInspector } from './stately-inspector.ts';

/**
 * Connects to a receiver by its address. If the connection breaks later, `onLost` is called once, and no further
 * message is sent.
 * @throws CliError `bad-address` (usage) or `inspector-unreachable`
 */
export async function connectToInspector(
  url: string,
  onLost: (why: string) => void,
): Promise<{ readonly send: SendToInspector; close(): Promise<void> }> {
  if (!URL.canParse(url) || !['ws:', 'wss:'].includes(new URL(url).protocol))
    throw usageError(`"${url}" is not a WebSocket address`, 'Write it like ws://127.0.0.1:8080.', 'bad-address');
  const socket = new WebSocket(url);
  await once(socket, 'open').catch((error: Error) => {
    throw new CliError(
      'inspector-unreachable',
      `no server answers at ${url}: ${requestProblem(error)}`,
      'Start the inspector.',
    );
  });
  let closing = false;
  let lost = false;
  const lose = (why: string): void => {
    if (!lost && !closing) onLost(why);
    lost = true;
  };
  socket.on('error', (error) => lose(error.message));
  socket.on('close', () => lose('the server closed the connection'));
  return {
    send(message) {
      if (!lost) socket.send(JSON.stringify(message), (error) => error && lose(error.message));
    },
    close: async () => {
      closing = true;
      if (socket.readyState === WebSocket.CLOSED) return;
      await new Promise<void>((resolve) => {
        socket.once('close', () => resolve());
        socket.close();
      });
    },
  };
}
