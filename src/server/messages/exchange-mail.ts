import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { fetchJson, requestProblem, urlBelow } from '../../base/http.ts';
import { fieldsOf } from '../../base/json.ts';
import { type NodeMailBody, NodeMailSchema, type UndeliveredMessage } from './mail-schema.ts';
import { type MailPositions, NO_MAIL_POSITIONS, type NodeMailExchange } from './node-mail.ts';

/** Interval in milliseconds for polling the stores for mail, because any process can send. */
export const MAIL_POLL_MS = 100;
/** Maximum time that a request for mail waits, in milliseconds. */
export const MAIL_WAIT_MS = 15_000;
const REQUEST_MS = 30_000;
const MAX_PAUSE_MS = 10_000;

interface ExchangeOptions {
  readonly node: string;
  /** The address that `hopgate serve --agency-listen` printed on the other node. */
  readonly url: string;
  readonly token: () => string | null;
  readonly mail: NodeMailExchange;
  readonly signal: AbortSignal;
  /** Called when the exchange of mail begins to work, and when it fails. */
  readonly onChange?: (problem: string | null) => void;
}

/** Describes a change that {@link ExchangeOptions.onChange} reports. */
export const describeExchange = (node: string, problem: string | null): string =>
  `messages with ${node} ${problem === null ? 'are exchanged' : `cannot be exchanged: ${problem}`}`;

const Refusals = z.object({ refusals: NodeMailSchema.shape.refusals });
export const MailAnswerSchema = z.object({ mail: NodeMailSchema, after: z.string() });

/**
 * Exchanges messages with a node that has an address, until the signal is aborted. This side makes the connections for
 * both directions, so a laptop that nobody can reach also gets its messages. Mail is repeated until it has arrived.
 */
export async function exchangeMailWithNode(options: ExchangeOptions): Promise<void> {
  const { node, mail, signal, onChange = () => {} } = options;
  const send = async (body: Partial<NodeMailBody>): Promise<readonly UndeliveredMessage[]> =>
    Refusals.parse(await request(options, '', body)).refusals;
  const problems: (string | null | undefined)[] = [undefined, undefined];
  const report = (loop: 0 | 1, problem: string | null): void => {
    const before = problems[loop];
    problems[loop] = problem;
    if (before !== problem && problems[1 - loop] !== problem) onChange(problem);
  };
  let sent: MailPositions = NO_MAIL_POSITIONS;
  const push = async (): Promise<void> => {
    const outgoing = await mail.collect(node, sent);
    if (outgoing) {
      const refusals = [...(await send(outgoing.mail))];
      await mail.accept(node, { messages: [], receipts: [], refusals });
      sent = outgoing.after;
    } else await pause(MAIL_POLL_MS, signal);
  };
  let got = '';
  const pull = async (): Promise<void> => {
    const answer = MailAnswerSchema.parse(await request(options, `?after=${encodeURIComponent(got)}`));
    const refusals = await mail.accept(node, answer.mail);
    if (refusals.length > 0) await send({ refusals: [...refusals] });
    got = answer.after;
  };
  await Promise.all([
    repeatExchange(push, signal, (problem) => report(0, problem)),
    repeatExchange(pull, signal, (problem) => report(1, problem)),
  ]);
}

async function repeatExchange(
  step: () => Promise<void>,
  signal: AbortSignal,
  report: (problem: string | null) => void,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await step();
      failures = 0;
      report(null);
    } catch (error) {
      if (signal.aborted) return;
      report(requestProblem(error));
      await pause(Math.min(MAX_PAUSE_MS, 50 * 2 ** failures++), signal);
    }
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {});

async function request({ url, token, signal }: ExchangeOptions, query: string, body?: object): Promise<unknown> {
  const answer = await fetchJson(urlBelow(url, `agency/messages${query}`), {
    token: token(),
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
  });
  const value: unknown = await answer.json();
  if (answer.ok) return value;
  const { message, remedy } = fieldsOf(fieldsOf(value)['error']);
  throw new Error(typeof message === 'string' ? `${message}. ${remedy ?? ''}`.trim() : `HTTP status ${answer.status}`);
}
