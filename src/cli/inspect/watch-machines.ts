import { Option } from 'commander';
import type { Inspector } from '../../ports/inspector.ts';
import { type Io, printRemark } from '../io.ts';
import { onTerminationSignal } from '../on-signal.ts';
import { wholeNumberParser } from '../shared-options.ts';
import { startBridge } from './bridge-server.ts';
import { connectToInspector } from './connect-to-inspector.ts';
import { statelyInspector } from './stately-inspector.ts';

/** The inspector of a session's machines, and the addresses where they are shown. */
export interface MachineWatch {
  readonly inspector: Inspector;
  /** The address to open in a browser; null if the messages go to a remote receiver. */
  readonly address: string | null;
  /** The WebSocket address that serves the messages, or that receives them. */
  readonly socket: string;
  close(): Promise<void>;
}

/** The port that the clients in `@statelyai/inspect` use by default. */
export const INSPECTOR_PORT = 8080;

/** Starts sending to a receiver at `url`, or else starts a bridge on the loopback interface. */
export async function startMachineWatch(
  io: Io,
  { port, url }: { readonly port?: number; readonly url?: string },
): Promise<MachineWatch> {
  if (url !== undefined) {
    const receiver = await connectToInspector(url, (why) =>
      printRemark(io, `the inspector at ${url} disconnected: ${why}`),
    );
    return { inspector: statelyInspector(receiver.send), address: null, socket: url, close: receiver.close };
  }
  const { address, socket, send, close } = await startBridge(port ?? INSPECTOR_PORT);
  return { inspector: statelyInspector(send), address, socket, close };
}

const portOf = wholeNumberParser(65_535);

/** `--inspect [where]` of commands that run a session. */
export const inspectOption = (): Option =>
  new Option(
    '--inspect [where]',
    'show the machines of the session in the Stately inspector: a port of this machine, or a ws:// address',
  );

/** Starts the watch that `--inspect` requests; null without the option. */
export async function startWatchIfOptionSet(io: Io, inspect: string | true | undefined): Promise<MachineWatch | null> {
  if (inspect === undefined) return null;
  const watch = await startMachineWatch(
    io,
    inspect === true ? {} : /^\d+$/.test(inspect) ? { port: portOf(inspect) } : { url: inspect },
  );
  const { address, socket } = watch;
  printRemark(io, address === null ? `the session is sent to ${socket}` : `watch the session at ${address}`);
  return watch;
}

/** Keeps the bridge open after the session until Ctrl-C, so that watchers can continue to read. */
export async function keepInspectorBridgeOpen(io: Io, { address }: MachineWatch): Promise<void> {
  if (address === null) return;
  printRemark(io, `the session is still shown at ${address}; Ctrl-C ends this`);
  await new Promise<void>(onTerminationSignal);
}
