import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { context, metrics, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { DataPointType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import {
  channels,
  CoordinationService,
  DistributedLock,
  LockLostError,
  LockModule,
  LockService,
} from '../../lib/index.js';
import { LockMetricsModule } from '../../lib/metrics/index.js';
import { LockOtelMetricsModule, LockTracingModule } from '../../lib/opentelemetry/index.js';
import type { LockTracingOptions } from '../../lib/opentelemetry/index.js';
import { LockHealthIndicator, LockHealthModule } from '../../lib/terminus/index.js';
import { attributeOf, BUCKETS, METRICS, prometheusNameOf } from '../../lib/telemetry/metric-table.js';
import { StatefulBackend } from '../unit/service/stateful.backend.js';
import { started } from './app.js';

/** Collects when the test asks for it. */
class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}

  async read() {
    const { resourceMetrics } = await this.collect();
    return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  }
}

function measuring(): Reader {
  const reader = new Reader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  onTestFinished(() => metrics.disable());
  return reader;
}

/** The values of a scrape and of a collection in one form: by name and labels. Histograms by their counts. */
type Values = Record<string, number>;

const inOrder = (labels: object) =>
  JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)));

async function scraped(registry: Registry): Promise<Values> {
  const all = await registry.getMetricsAsJSON();
  const values = all.flatMap(({ name, values: series }) =>
    series.flatMap((one) => {
      const { metricName = name, labels, value } = one as { metricName?: string; labels: object; value: number };
      return /_(bucket|sum)$/.test(metricName)
        ? []
        : [[`${metricName.replace(/_count$/, '')} ${inOrder(labels)}`, value] as const];
    }),
  );
  return Object.fromEntries(values);
}

async function collected(reader: Reader): Promise<Values> {
  const labelOf = new Map(
    Object.values(METRICS).flatMap(({ labels }) => labels.map((label) => [attributeOf(label), label])),
  );
  const values = (await reader.read()).flatMap(({ descriptor, dataPointType, dataPoints }) =>
    dataPoints.map(({ attributes, value }) => {
      const metric = Object.values(METRICS).find(({ name }) => name === descriptor.name);
      const labels = Object.fromEntries(
        Object.entries(attributes).map(([attribute, text]) => [labelOf.get(attribute) ?? attribute, text]),
      );
      const number = dataPointType === DataPointType.HISTOGRAM ? (value as { count: number }).count : (value as number);
      return [`${metric ? prometheusNameOf(metric) : descriptor.name} ${inOrder(labels)}`, number] as const;
    }),
  );
  return Object.fromEntries(values);
}

describe('the metrics of OpenTelemetry', () => {
  it('are those of Prometheus, by one table: names, labels and values', async () => {
    const reader = measuring();
    const registry = new Registry();
    const backend = new StatefulBackend();
    const imports = [
      LockModule.forRoot({ service: 'test', backend: { name: 'stateful', create: () => backend } }),
      LockMetricsModule.forRoot({ registry, nameOf: ({ label, kind }) => label ?? `some ${kind}` }),
      LockOtelMetricsModule.forRoot({ nameOf: ({ label, kind }) => label ?? `some ${kind}` }),
    ];
    const app = await started(Test.createTestingModule({ imports }).compile());
    const locks = app.get(LockService);
    backend.turn('connected');
    await Promise.all([1, 2, 3].map(() => locks.using('a', () => {}, { label: 'one' })));
    const lease = await locks.readWriteLock('b').write.acquire({ label: 'two' });
    expect(await locks.tryAcquire('b')).toBeNull();
    await locks.using('c', async () => backend.leaseOn('c')?.lose(new LockLostError('c', 'test')), {
      onLost: 'ignore',
    });
    await app.get(CoordinationService).queue<number>('jobs').put(1);
    await locks.stock('cups', { segments: 1 }).restock(2);
    const [ours, theirs] = [await scraped(registry), await collected(reader)];
    // Ages grow between the two readings, and each exporter adds up time by itself: their names and labels count.
    const isAge = (series: string) => /_oldest_|_blocking_/.test(series);
    const comparable = (values: Values) =>
      Object.fromEntries(Object.entries(values).map(([series, value]) => [series, isAge(series) ? 'an age' : value]));
    expect(comparable(theirs)).toEqual(comparable(ours));
    expect(Object.keys(ours).length).toBeGreaterThan(40);
    await lease.release();
  });

  it('have our buckets, units and descriptions', async () => {
    const reader = measuring();
    const imports = [
      LockModule.forRoot({ service: 'test', backend: { name: 'stateful', create: () => new StatefulBackend() } }),
      LockOtelMetricsModule.forRoot(),
    ];
    const app = await started(Test.createTestingModule({ imports }).compile());
    await app.get(LockService).using('a', () => {});
    const waits = (await reader.read()).find(({ descriptor }) => descriptor.name === 'distributed_lock.wait.duration');
    expect(waits?.descriptor).toMatchObject({ unit: 's', description: METRICS.waitDuration.help });
    expect(waits?.dataPoints[0]?.value).toMatchObject({ buckets: { boundaries: BUCKETS } });
    await app.close();
    expect(Object.values(channels).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([]);
  });

  it('refuse wrong options, and the class itself', async () => {
    expect(() => LockOtelMetricsModule.forRoot({ prefix: 'x' } as object)).toThrow(/unknown field "prefix"/);
    const compiling = Test.createTestingModule({ imports: [LockOtelMetricsModule] }).compile();
    await expect(compiling).rejects.toThrow(/LockOtelMetricsModule\.forRoot\(\)/);
  });
});

@Injectable()
class Orders {
  readonly mayEnd = deferred();
  readonly active: (Span | undefined)[] = [];

  @DistributedLock((id: string) => `order/${id}`)
  async place(_id: string, mayEnd = Promise.resolve()) {
    this.active.push(trace.getActiveSpan());
    trace.getTracer('test').startSpan('inside').end();
    await mayEnd;
    this.active.push(trace.getActiveSpan());
  }
}

/** An application with traces, and the spans that ended. */
async function startTraced(options: LockTracingOptions = {}) {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  const backend = new StatefulBackend();
  const imports = [
    LockModule.forRoot({ service: 'test', backend: { name: 'stateful', create: () => backend } }),
    LockTracingModule.forRoot(options),
  ];
  const app = await started(Test.createTestingModule({ imports, providers: [Orders] }).compile());
  const spans = () => exporter.getFinishedSpans();
  const named = (name: string) => spans().filter((span) => span.name === name);
  return { app, backend, locks: app.get(LockService), orders: app.get(Orders), spans, named };
}

/** Runs work as a request does: below a span of its own. */
async function request<T>(name: string, work: () => Promise<T>): Promise<{ span: Span; result: Promise<T> }> {
  return trace.getTracer('test').startActiveSpan(name, async (span) => {
    const result = work().finally(() => span.end());
    result.catch(() => {});
    return { span, result };
  });
}

const idOf = (span: Span | ReadableSpan | undefined) => span?.spanContext().spanId;
const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId;

describe('the spans of a lock', () => {
  it('are a hold around the work, active inside, with what is known of the lease', async () => {
    const { orders, named, spans } = await startTraced({ acquireAfterMs: 60_000 });
    const { span, result } = await request('GET /', () => orders.place('7'));
    await result;
    const [hold, ...others] = named('hold Orders.place');
    expect(others).toEqual([]);
    expect(parentOf(hold)).toBe(idOf(span));
    expect(orders.active.map(idOf)).toEqual([idOf(hold), idOf(hold)]);
    expect(parentOf(named('inside')[0])).toBe(idOf(hold));
    expect(hold?.attributes).toEqual({
      'distributed_lock.system': 'stateful',
      'distributed_lock.connection': 'default',
      'distributed_lock.name': 'Orders.place',
      'distributed_lock.key': 'order/7',
      'distributed_lock.mode': 'exclusive',
      'distributed_lock.kind': 'lock',
      'distributed_lock.wait_ms': expect.any(Number),
      'distributed_lock.hand_over': 0,
      'distributed_lock.fencing_token': expect.stringMatching(/^\d+$/),
    });
    expect(hold?.status.code).toBe(SpanStatusCode.UNSET);
    const [seconds, nanoseconds] = hold?.duration ?? [0, 0];
    expect(seconds * 1e9 + nanoseconds).toBeGreaterThan(0);
    // A wait below acquireAfterMs has no span.
    expect(
      spans()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['GET /', 'hold Orders.place', 'inside']);
  });

  it('have the waiting request as their parent, and never the one that released the key', async () => {
    const { orders, named, backend } = await startTraced({ acquireAfterMs: 0 });
    const first = await request('first', () => orders.place('7', orders.mayEnd.promise));
    const second = await request('second', () => orders.place('7'));
    await backend.standing('order/7', 1);
    // The first request releases the key, and with it grants the second one in its own context.
    orders.mayEnd.resolve();
    await Promise.all([first.result, second.result]);
    for (const name of ['acquire Orders.place', 'hold Orders.place']) {
      const parents = named(name).map(parentOf);
      expect(new Set(parents)).toEqual(new Set([idOf(first.span), idOf(second.span)]));
      expect(
        named(name)
          .map((one) => one.spanContext().traceId)
          .toSorted(),
      ).toEqual([first, second].map(({ span }) => span.spanContext().traceId).toSorted());
    }
    const ofSecond = named('hold Orders.place').find((hold) => parentOf(hold) === idOf(second.span));
    expect(orders.active.slice(-1).map(idOf)).toEqual([idOf(ofSecond)]);
  });

  it('tell how a wait ended, and only a failure has the status of one', async () => {
    const { locks, named } = await startTraced();
    const lease = await locks.acquire('a');
    const given = new AbortController();
    const { result } = await request('GET /', async () => {
      await locks.acquire('a', { label: 'late', waitMs: 1 }).catch(() => {});
      await locks.tryAcquire('a', { label: 'busy' });
      const aborted = locks.acquire('a', { label: 'gone', signal: given.signal });
      given.abort(new Error('enough'));
      await aborted.catch(() => {});
    });
    await result;
    const [late, busy, gone] = ['late', 'busy', 'gone'].map((label) => named(`acquire ${label}`)[0]);
    expect(late?.attributes).toMatchObject({ 'distributed_lock.result': 'timeout', 'error.type': 'LOCK_TIMEOUT' });
    expect(late?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'LOCK_TIMEOUT' });
    expect(busy?.attributes).toMatchObject({ 'distributed_lock.result': 'busy' });
    expect(busy?.status.code).toBe(SpanStatusCode.UNSET);
    expect(gone?.attributes).toMatchObject({ 'distributed_lock.result': 'aborted' });
    expect(gone?.status.code).toBe(SpanStatusCode.UNSET);
    await lease.release();
  });

  it('have the events of the lease, and the status of a loss', async () => {
    const { locks, backend, named } = await startTraced();
    const { result } = await request('GET /', () =>
      locks.using(
        'a',
        async () => {
          backend.leaseOn('a')?.suspend();
          backend.leaseOn('a')?.resume();
          backend.leaseOn('a')?.revoke();
          backend.leaseOn('a')?.lose(new LockLostError('a', 'the test'));
        },
        { label: 'one' },
      ),
    );
    await expect(result).rejects.toMatchObject({ code: 'LOCK_REVOKED' });
    const [hold] = named('hold one');
    expect(hold?.events.map(({ name }) => name)).toEqual(['suspended', 'resumed', 'revoking', 'lost']);
    expect(hold?.status.code).toBe(SpanStatusCode.ERROR);
  });

  it('last from acquire() to release()', async () => {
    const { locks, named, spans } = await startTraced();
    const { result } = await request('GET /', () => locks.acquire('a', { label: 'one' }));
    const lease = await result;
    expect(named('hold one')).toEqual([]);
    await lease.release();
    expect(named('hold one')).toHaveLength(1);
    const [root] = spans().filter(({ name }) => name === 'GET /');
    expect(parentOf(named('hold one')[0])).toBe(idOf(root));
  });

  it('are none without a recorded parent', async () => {
    const { locks, spans } = await startTraced();
    await locks.using('a', () => {});
    expect(spans()).toEqual([]);
  });

  it('need no parent with requireParent: false', async () => {
    const { locks, named } = await startTraced({ requireParent: false });
    await locks.using('a', () => {}, { label: 'alone' });
    expect(named('hold alone')).toHaveLength(1);
    expect(parentOf(named('hold alone')[0])).toBeUndefined();
  });

  it('have no key with recordKeys: false, in no attribute and no status', async () => {
    const { locks, spans } = await startTraced({ recordKeys: false });
    const lease = await locks.acquire('secret');
    const { result } = await request('GET /', () => locks.acquire('secret', { waitMs: 1 }));
    await expect(result).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    await lease.release();
    expect(spans()).toHaveLength(2);
    expect(
      JSON.stringify(spans().map(({ name, attributes, status, events }) => [name, attributes, status, events])),
    ).not.toContain('secret');
  });

  it('are there, as metrics are, where Nest wraps its instances in a Proxy', async () => {
    const exporter = new InMemorySpanExporter();
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
    const reader = measuring();
    onTestFinished(() => trace.disable());
    const registry = new Registry();
    @Module({
      imports: [
        LockModule.forRoot({ backend: { name: 'stateful', create: () => new StatefulBackend() } }),
        LockMetricsModule.forRoot({ registry }),
        LockOtelMetricsModule.forRoot(),
        LockTracingModule.forRoot({ requireParent: false }),
        LockHealthModule,
      ],
    })
    class AppModule {}
    // A transparent Proxy does not work for Maps, and Nest's own container is one.
    const instanceDecorator = (instance: unknown) =>
      typeof instance === 'object' && instance !== null && !(instance instanceof Map)
        ? new Proxy(instance, {})
        : instance;
    const app = await NestFactory.create(AppModule, { logger: false, instrument: { instanceDecorator } });
    await app.init();
    await app.get(LockService).using('a', () => {}, { label: 'one' });
    expect(app.get(LockHealthIndicator).isHealthy('locks').locks.state).toBe('connected');
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toContain('hold one');
    const series =
      'distributed_lock_hold_duration_seconds [["connection","default"],["lock","one"],["mode","exclusive"]]';
    expect((await scraped(registry))[series]).toBe(1);
    expect((await collected(reader))[series]).toBe(1);
    await app.close();
    expect(Object.values(channels).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([]);
  });

  it('leave no subscriber behind', async () => {
    const { app } = await startTraced();
    expect(channels.hold.hasSubscribers).toBe(true);
    await app.close();
    expect(Object.values(channels).filter(({ hasSubscribers }) => hasSubscribers)).toEqual([]);
  });

  it.each([
    [{ acquireAfterMs: -1 }, /acquireAfterMs must be a number of milliseconds/],
    [{ requireParent: 1 }, /requireParent must be true or false/],
    [{ recordKeys: 'no' }, /recordKeys must be true or false/],
    [{ connections: 'default' }, /connections must be a list/],
    [{ keys: true }, /unknown field "keys"/],
  ])('need right options: %j', (options, message) => {
    expect(() => LockTracingModule.forRoot(options as LockTracingOptions)).toThrow(message);
  });

  it('need forRoot(): the class itself is refused', async () => {
    const compiling = Test.createTestingModule({ imports: [LockTracingModule] }).compile();
    await expect(compiling).rejects.toThrow(/LockTracingModule\.forRoot\(\)/);
  });
});
