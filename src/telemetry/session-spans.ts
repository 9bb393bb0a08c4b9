import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { type Fields, fieldsOf, textOf } from '../base/json.ts';
import { mapValues } from '../base/map-values.ts';
import { replaceMethod } from '../base/replace-method.ts';
import { shorten } from '../base/text.ts';
import { type Body, type OutcomeRecord, toBody } from '../evidence/bodies.ts';
import type { Entry } from '../evidence/entry.ts';
import type { ToolBackend } from '../ports/tool-backend.ts';

export interface SpanOptions {
  /** True to add arguments, results and refusal texts, each cut at 4,000 characters. Default: names and codes only. */
  readonly contents?: boolean;
  /** The tracer of the spans; default: the tracer `hopgate` of the global provider. */
  readonly tracer?: Tracer;
}

const MAX_CHARS = 4000;

/**
 * Turns a session's entries into OpenTelemetry spans: the session, its visits, steps, denials, hops, modes and
 * approvals. Names are those of the GenAI semantic conventions where they exist, `hopgate.*` otherwise.
 *
 * A span is a child of the caller's active span, with a link to its visit. Without an active span, it is a child of its
 * visit.
 */
export class SessionSpans {
  readonly #tracer: Tracer;
  readonly #contents: boolean;
  #session: Span | null = null;
  #visit: Span | null = null;
  #step: Span | null = null;
  /** The time when a backend began the last call; null before it, and after its span was added. */
  #began: number | null = null;
  #lastAt = new Date();

  constructor({ contents = false, tracer = trace.getTracer('hopgate') }: SpanOptions = {}) {
    this.#contents = contents;
    this.#tracer = tracer;
  }

  /** Wraps backends, so that the span of a call begins when its backend is called. */
  timed(backends: readonly ToolBackend[]): readonly ToolBackend[] {
    return backends.map((backend) =>
      replaceMethod(backend, 'run', (call) => {
        this.#began = Date.now();
        return backend.run(call);
      }),
    );
  }

  /** Adds the spans of an entry. Call it after the entry is durable. */
  add(entry: Entry): void {
    const body = toBody(entry.body);
    if (!body) return;
    this.#lastAt = new Date(entry.at);
    this.#session ??= this.#begin(`invoke_agent ${entry.author}`, context.active(), {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': entry.author,
      'gen_ai.conversation.id': entry.sessionId,
    });
    this.#add(entry, body);
  }

  /** Ends all open spans. Call it when the session is released, even if it is not closed. */
  end(): void {
    for (const span of [this.#step, this.#visit, this.#session]) span?.end(this.#lastAt);
    this.#step = null;
    this.#visit = null;
    this.#session = null;
  }

  #add(entry: Entry, body: Body): void {
    switch (body.event) {
      case 'session-open':
        this.#session?.setAttributes({ 'hopgate.spec.hash': body.specHash });
        return;
      case 'start':
        this.#visit?.end(this.#lastAt);
        this.#visit = this.#begin(`visit ${body.peripheral}`, contextUnder(this.#session), this.#about(entry));
        return;
      case 'stop':
        this.#visit?.setAttributes(body.exit === null ? {} : { 'hopgate.exit': body.exit });
        this.#visit?.end(this.#lastAt);
        this.#visit = null;
        return;
      case 'intent':
        this.#step = this.#tool(entry, body, this.#lastAt);
        return;
      case 'step':
        this.#endStep(
          this.#tool(entry, body, new Date(Math.min(this.#began ?? Infinity, +this.#lastAt))),
          body.outcome,
        );
        this.#began = null;
        return;
      case 'outcome':
        this.#endStep(this.#step, body.outcome);
        this.#step = null;
        return;
      case 'interrupted':
        this.#endStep(this.#step, { status: 'failed', code: 'interrupted', message: body.reason });
        this.#step = null;
        return;
      case 'denial':
        this.#denial(entry, body);
        return;
      case 'hop':
        this.#point(entry, `hop ${body.from} → ${body.to}`, {
          'hopgate.hop.from': body.from,
          'hopgate.hop.to': body.to,
          'hopgate.exit': body.exit,
          'hopgate.principal': body.by,
        });
        return;
      case 'mode':
        this.#point(entry, `mode ${body.from} → ${body.to}`, {
          'hopgate.mode.from': body.from,
          'hopgate.mode.to': body.to,
          'hopgate.principal': body.by,
        });
        return;
      case 'approval': {
        const { kind, from, to } = body.request.action;
        this.#point(entry, `approval ${textOf(to)}`, {
          'hopgate.approval.kind': textOf(kind) ?? '',
          'hopgate.approval.from': textOf(from) ?? '',
          'hopgate.approval.to': textOf(to) ?? '',
          'hopgate.approval.by': body.record.by,
          'hopgate.approval.via': body.record.via,
        });
        return;
      }
      case 'session-closed':
        this.end();
        return;
      default:
        return;
    }
  }

  #denial(entry: Entry, body: Extract<Body, { event: 'denial' }>): void {
    const { kind, tool, to, peripheral } = body.request;
    const about = {
      'hopgate.denial.code': body.code,
      'hopgate.denial.enforced': body.enforced !== false,
      'hopgate.request': textOf(kind) ?? '',
      ...(textOf(tool) === null ? {} : { 'gen_ai.tool.name': textOf(tool) ?? '' }),
      ...(textOf(to ?? peripheral) === null ? {} : { 'hopgate.hop.to': textOf(to ?? peripheral) ?? '' }),
      ...this.#contentAttributes({ 'hopgate.denial.message': body.message, 'hopgate.denial.remedy': body.remedy }),
    };
    this.#point(entry, `denial ${body.code}`, about, SpanStatusCode.ERROR);
  }

  #tool(entry: Entry, body: Extract<Body, { event: 'step' | 'intent' }>, start: Date): Span {
    const { tool, args, wouldRefuse } = body;
    return this.#child(entry, `execute_tool ${tool}`, start, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': 'function',
      ...(wouldRefuse ? { 'hopgate.would_refuse': wouldRefuse.code } : {}),
      ...this.#contentAttributes({ 'gen_ai.tool.call.arguments': args }),
    });
  }

  #endStep(span: Span | null, outcome: OutcomeRecord): void {
    if (!span) return;
    span.setAttributes({ 'hopgate.outcome': outcome.status });
    if (outcome.status === 'ok')
      span.setAttributes(this.#contentAttributes({ 'gen_ai.tool.call.result': outcome.result }));
    else span.setAttributes({ 'error.type': outcome.code }).setStatus({ code: SpanStatusCode.ERROR });
    const { verdict } = outcome.status === 'ok' ? fieldsOf(outcome.result) : {};
    if (typeof verdict === 'string') span.setAttributes({ 'hopgate.tests.verdict': verdict });
    span.end(this.#lastAt);
  }

  /** Adds a span without a duration. */
  #point(entry: Entry, name: string, attributes: Attributes, code = SpanStatusCode.UNSET): void {
    this.#child(entry, name, this.#lastAt, attributes).setStatus({ code }).end(this.#lastAt);
  }

  #child(entry: Entry, name: string, startTime: Date, attributes: Attributes): Span {
    const above = this.#visit ?? this.#session;
    const called = trace.getSpan(context.active()) !== undefined;
    const links = called && above ? [{ context: above.spanContext() }] : [];
    const parent = called ? context.active() : contextUnder(above);
    return this.#tracer.startSpan(
      name,
      { startTime, links, attributes: { ...this.#about(entry), ...attributes } },
      parent,
    );
  }

  #begin(name: string, parent: Context, attributes: Attributes): Span {
    return this.#tracer.startSpan(name, { startTime: this.#lastAt, attributes }, parent);
  }

  #about({ sessionId, peripheral, mode, id, seq }: Entry): Attributes {
    return {
      'gen_ai.conversation.id': sessionId,
      'hopgate.entry.id': id,
      'hopgate.entry.seq': seq,
      ...(peripheral === null ? {} : { 'hopgate.peripheral': peripheral }),
      ...(mode === null ? {} : { 'hopgate.mode': mode }),
    };
  }

  #contentAttributes(contents: Fields): Attributes {
    if (!this.#contents) return {};
    return mapValues(contents, (value) =>
      shorten(typeof value === 'string' ? value : JSON.stringify(value), MAX_CHARS),
    );
  }
}

const contextUnder = (span: Span | null): Context => (span ? trace.setSpan(ROOT_CONTEXT, span) : context.active());
