import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { onTestFinished } from 'vitest';

/** A span as OTLP carries it, in JSON. */
export interface SentSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly linked: readonly string[];
  readonly ms: number;
  readonly isError: boolean;
  readonly attributes: { readonly [name: string]: unknown };
}

interface WireSpan extends Pick<SentSpan, 'name' | 'traceId' | 'spanId' | 'parentSpanId'> {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly links?: readonly { readonly spanId: string }[];
  readonly attributes: readonly { readonly key: string; readonly value: { readonly [type: string]: unknown } }[];
}

/**
 * A receiver in this process, and the global provider that sends to it. `spans` waits until everything was received.
 */
export async function otlpReceiver(): Promise<{ readonly url: string; spans(): Promise<readonly SentSpan[]> }> {
  const received: WireSpan[] = [];
  const server = createServer(async (request, response) => {
    const { resourceSpans } = JSON.parse((await buffer(request)).toString());
    for (const { scopeSpans } of resourceSpans) for (const { spans } of scopeSpans) received.push(...spans);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url });
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(async () => {
    trace.disable();
    context.disable();
    await provider.shutdown();
    server.close();
  });
  return {
    url,
    async spans() {
      await provider.forceFlush();
      return received.map(asSent);
    },
  };
}

const asSent = ({
  status,
  links = [],
  attributes,
  startTimeUnixNano,
  endTimeUnixNano,
  ...span
}: WireSpan): SentSpan => ({
  name: span.name,
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  ms: Number((BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1_000_000n),
  isError: status.code === 2,
  linked: links.map(({ spanId }) => spanId),
  attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
});
