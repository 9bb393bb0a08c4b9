import { type AllowedUrl, judgeUrl } from '../../gate/scope/judge-url.ts';
import type { ObservedEffect, ToolBackend, ToolCall, ToolOutcome, ToolReport } from '../../ports/tool-backend.ts';
import { LAZY_BACKENDS } from '../../spec/policy/tool-ids.ts';
import { wholeCharactersLength } from '../sandbox/bounded-output.ts';
import { reportIfAborted } from '../tool-outcomes.ts';
import { type FetchAnswer, type FetchNetwork, fetchCheckedUrl, INTERNET_NETWORK } from './fetch-checked-url.ts';
import { isTextType, readableText } from './readable-text.ts';

const MAX_REDIRECTS = 5;
/** HTML shrinks when converted to text, so more bytes are read than shown. */
const READ_FACTOR = 8;

export interface WebBackendOptions {
  /** Resolver and address policy; for tests. The default uses the system resolver and reaches only public addresses. */
  readonly network?: FetchNetwork;
}

/** Serves `web-fetch`: GET from listed hosts at checked addresses; every redirect is checked again. */
export function webBackend({ network = INTERNET_NETWORK }: WebBackendOptions = {}): ToolBackend {
  return { ...LAZY_BACKENDS.web, run: async (call) => reportIfAborted(call) ?? fetchPage(network, call) };
}

async function fetchPage(network: FetchNetwork, call: ToolCall): Promise<ToolReport> {
  const effects: ObservedEffect[] = [];
  const report = (outcome: ToolOutcome): ToolReport => ({ outcome, effects });
  const { url: requestedUrl } = call.args;
  const { allow } = call.envelope.config.web;
  if (typeof requestedUrl !== 'string')
    return report(refusedOutcome('invalid-action', '"url" must be a string', 'Give an https:// address.'));
  const { seconds, outputBytes } = call.tool.limits;
  const timeout = AbortSignal.timeout(seconds * 1000);
  const signal = AbortSignal.any([call.signal, timeout]);
  const redirects: string[] = [];
  let next = requestedUrl;
  for (;;) {
    const decision = judgeUrl(next, allow);
    if (!decision.ok) {
      const prefix = redirects.length === 0 ? '' : `the redirect to ${next} is not followed: `;
      return report(refusedOutcome(decision.code, `${prefix}${decision.message}`, decision.remedy));
    }
    const { judged } = decision;
    const answer = await fetchCheckedUrl(judged, network, {
      bytes: outputBytes * READ_FACTOR,
      accepts: isTextType,
      signal,
    });
    if (answer.kind === 'blocked')
      return report(
        refusedOutcome(
          'out-of-scope',
          `${judged.host} leads to ${answer.address}, which is not a public address`,
          'Fetch from a public host; hosts of the local network are never reached from here.',
        ),
      );
    if (answer.kind === 'failed') {
      const late = answer.code === 'aborted' && timeout.aborted && !call.signal.aborted;
      const code = late ? 'timed-out' : answer.code;
      return report({
        status: 'failed',
        code,
        message: late ? `${judged.host} did not answer within ${seconds} s` : answer.message,
      });
    }
    effects.push({ path: judged.host, op: 'connect' });
    if (answer.kind === 'body') return report(await showPage(answer, judged, outputBytes, redirects, signal));
    if (redirects.length === MAX_REDIRECTS)
      return report({
        status: 'failed',
        code: 'too-many-redirects',
        message: `${requestedUrl} redirects more than ${MAX_REDIRECTS} times`,
      });
    if (!URL.canParse(answer.location, judged.url.href))
      return report({
        status: 'failed',
        code: 'fetch-failed',
        message: `${judged.host} redirects to an invalid address: ${answer.location.slice(0, 200)}`,
      });
    next = new URL(answer.location, judged.url).href;
    if (judged.url.protocol === 'https:' && next.startsWith('http:'))
      return report(
        refusedOutcome(
          'out-of-scope',
          `the redirect from https to ${next} is not followed`,
          'Fetch an address that stays on https.',
        ),
      );
    redirects.push(next);
  }
}

async function showPage(
  answer: Extract<FetchAnswer, { kind: 'body' }>,
  { url }: AllowedUrl,
  outputBytes: number,
  redirects: readonly string[],
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { title, text, raw } = await readableText(answer.bytes, answer.type, url.href, signal);
  const bytes = Buffer.from(text);
  const long = bytes.length > outputBytes;
  const kept = bytes.subarray(0, outputBytes);
  return {
    status: 'ok',
    result: {
      url: url.href,
      status: answer.status,
      type: answer.type,
      title,
      text: long ? kept.subarray(0, wholeCharactersLength(kept)).toString('utf8') : text,
      ...(raw ? { raw } : {}),
      truncated: answer.truncated || long,
      redirects: [...redirects],
    },
  };
}

function refusedOutcome(code: 'invalid-action' | 'out-of-scope', message: string, remedy: string): ToolOutcome {
  return { status: 'refused', code, argument: 'url', message: `${message}.`, remedy };
}
