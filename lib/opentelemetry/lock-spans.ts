import { context, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type {
  HoldEvent,
  LeaseEvent,
  ObservedRequest,
  RequestEndEvent,
  RequestEvent,
  RequestGrantEvent,
  RequestMissEvent,
  RequestStartEvent,
} from '../contract/channels.js';
import { LockError } from '../contract/errors.js';
import type { ResolvedLockTracingOptions } from './lock-tracing.options.js';

/** One acquisition that is traced. */
interface Traced {
  /** The context of the caller at the start. At the grant, the active one may be that of the former holder. */
  readonly parent: Context;
  /** The wall clock at the start, in milliseconds. */
  readonly startedAt: number;
  /** The wall clock at the grant, in milliseconds. */
  grantedAt: number;
  hold: Span | undefined;
}

/** The spans of one connection's acquisitions: `acquire` for a wait or a failure, and `hold` for a lease. */
export class LockSpans {
  readonly #tracer: Tracer;
  readonly #options: ResolvedLockTracingOptions;
  readonly #traced = new WeakMap<ObservedRequest, Traced>();

  constructor(tracer: Tracer, options: ResolvedLockTracingOptions) {
    this.#tracer = tracer;
    this.#options = options;
  }

  started({ request }: RequestStartEvent): void {
    const parent = context.active();
    if (this.#options.requireParent && !trace.getSpan(parent)?.isRecording()) return;
    this.#traced.set(request, { parent, startedAt: Date.now(), grantedAt: 0, hold: undefined });
  }

  granted(event: RequestGrantEvent): void {
    const traced = this.#traced.get(event.request);
    if (!traced) return;
    const { lease, waitedMs, handOver, request } = event;
    const attributes = { ...this.#attributesOf(event), 'distributed_lock.wait_ms': waitedMs };
    const startTime = traced.startedAt + waitedMs;
    traced.grantedAt = startTime;
    if (waitedMs >= this.#options.acquireAfterMs) {
      const acquired = { ...attributes, 'distributed_lock.result': 'acquired' };
      this.#acquireSpan(traced, request, acquired).end(startTime);
    }
    const granted = {
      ...attributes,
      'distributed_lock.hand_over': handOver,
      // The SDK has no integers of 64 bits.
      'distributed_lock.fencing_token': String(lease.fencingToken),
    };
    traced.hold = this.#tracer.startSpan(`hold ${request.name}`, { startTime, attributes: granted }, traced.parent);
  }

  missed(event: RequestMissEvent): void {
    const { request, waitedMs, reason, error } = event;
    const traced = this.#traced.get(request);
    if (!traced) return;
    this.#traced.delete(request);
    const attributes = {
      ...this.#attributesOf(event),
      'distributed_lock.wait_ms': waitedMs,
      'distributed_lock.result': reason,
    };
    const span = this.#acquireSpan(traced, request, attributes);
    // A key that is held or a queue that is empty is an answer, and the caller has given up by itself.
    if (error !== undefined && reason !== 'aborted') failed(span, error);
    span.end(traced.startedAt + waitedMs);
  }

  /** Makes the span active while the work runs, in the context that its caller had. */
  holding(event: HoldEvent): void {
    const traced = this.#traced.get(event.request);
    if (!traced?.hold) return;
    const active = trace.setSpan(traced.parent, traced.hold);
    event.around((work) => context.with(active, work));
  }

  noted(name: 'suspended' | 'resumed' | 'revoking', { request }: LeaseEvent): void {
    this.#traced.get(request)?.hold?.addEvent(name);
  }

  lost({ request, error }: LeaseEvent & { readonly error: LockError }): void {
    const span = this.#traced.get(request)?.hold;
    if (!span) return;
    span.addEvent('lost');
    failed(span, error);
  }

  released({ request, heldMs }: RequestEndEvent): void {
    const traced = this.#traced.get(request);
    if (!traced) return;
    this.#traced.delete(request);
    // Not the wall clock, which has whole milliseconds: a short hold would end before its start.
    traced.hold?.end(traced.grantedAt + heldMs);
  }

  #acquireSpan(traced: Traced, { name }: ObservedRequest, attributes: Attributes): Span {
    return this.#tracer.startSpan(`acquire ${name}`, { startTime: traced.startedAt, attributes }, traced.parent);
  }

  #attributesOf({ origin, request }: RequestEvent): Attributes {
    return {
      'distributed_lock.system': origin.backend,
      'distributed_lock.connection': origin.connection,
      'distributed_lock.name': request.name,
      'distributed_lock.mode': request.mode,
      'distributed_lock.kind': request.kind,
      ...(this.#options.recordKeys && { 'distributed_lock.key': request.key }),
    };
  }
}

/** Sets the status. The message of a lock's error names the key, so the code stands for it. */
function failed(span: Span, error: unknown): void {
  const type = error instanceof LockError ? error.code : error instanceof Error ? error.name : typeof error;
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: type });
}
