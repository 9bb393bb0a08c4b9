import { context, createTraceState, isSpanContextValid, ROOT_CONTEXT, trace } from '@opentelemetry/api';

/** The W3C trace context that a request carries, such as in MCP's `_meta`. */
export interface TraceFields {
  readonly traceparent?: unknown;
  readonly tracestate?: unknown;
}

const PARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Runs `work` under the span that the fields name, so that the spans of `work` join the caller's trace. */
export function inTrace<T>({ traceparent, tracestate }: TraceFields, work: () => T): T {
  const [, traceId = '', spanId = '', flags = ''] =
    PARENT.exec(typeof traceparent === 'string' ? traceparent : '') ?? [];
  const caller = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(typeof tracestate === 'string' ? { traceState: createTraceState(tracestate) } : {}),
  };
  return isSpanContextValid(caller) ? context.with(trace.setSpanContext(ROOT_CONTEXT, caller), work) : work();
}
