import 'reflect-metadata';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, HealthIndicatorService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import type { Server } from 'node:http';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { LockModule, LockService } from '../../lib/index.js';
import type { LockBackendDefinition } from '../../lib/index.js';
import { LockConfigurationError, LockShutdownError } from '../../lib/contract/errors.js';
import { LockHealthIndicator, LockHealthModule } from '../../lib/terminus/index.js';
import type { LockHealthOptions } from '../../lib/terminus/index.js';
import { StatefulBackend } from '../unit/service/stateful.backend.js';
import { started } from './app.js';

/** The options of the next checks. */
@Injectable()
class Wanted {
  options: LockHealthOptions = {};
}

@Controller()
class Health {
  constructor(
    readonly health: HealthCheckService,
    readonly locks: LockHealthIndicator,
    readonly wanted: Wanted,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.locks.isHealthy('locks', this.wanted.options)]);
  }

  @Get('live')
  @HealthCheck()
  live() {
    return this.health.check([]);
  }
}

const hasDegraded = 'degraded' in new HealthIndicatorService().check('x');

interface Answer {
  readonly code: number;
  readonly status: string;
  readonly locks: Record<string, unknown>;
}

async function startHealth({ gracefulShutdownTimeoutMs = 0, isLast = false, isGlobal = true } = {}) {
  const backend = new StatefulBackend();
  const definition: LockBackendDefinition = { name: 'stateful', create: () => backend };
  const locks = LockModule.forRoot({ service: 'test', backend: definition, drainTimeoutMs: 50, isGlobal });
  @Module({ imports: [locks], exports: [locks] })
  class Locks {}
  const others = [TerminusModule.forRoot({ gracefulShutdownTimeoutMs, logger: false }), LockHealthModule];
  const imports = isLast ? [...others, Locks] : [Locks, ...others];
  const app = await started(
    Test.createTestingModule({ imports, controllers: [Health], providers: [Wanted] }).compile(),
  );
  const check = async (path = '/ready'): Promise<Answer> => {
    const { body, status } = await request(app.getHttpServer() as Server).get(path);
    const answer = body as { status: string; details: { locks: Record<string, unknown> } };
    return { code: status, status: answer.status, locks: answer.details?.locks };
  };
  const wanted = app.get(Wanted);
  return {
    app,
    backend,
    check,
    locks: app.get(LockService),
    want: (options: LockHealthOptions) => (wanted.options = options),
  };
}

describe('the health of a connection', () => {
  it('is up while connected, with counts of this process', async () => {
    const { check, locks, backend } = await startHealth();
    const lease = await locks.acquire('a');
    const waiting = locks.acquire('a');
    const { code, status, locks: shown } = await check();
    expect({ code, status }).toEqual({ code: 200, status: 'ok' });
    const { decidedBy, clocks, failOver, records } = backend.guarantees;
    expect(shown).toEqual({
      status: 'up',
      state: 'connected',
      sinceMs: expect.any(Number),
      sessionTimeoutMs: 60_000,
      held: 1,
      waiting: 1,
      backend: 'stateful',
      guarantees: { decidedBy, clocks, failOver, records },
    });
    await lease.release();
    await (await waiting).release();
    expect((await check()).locks).toMatchObject({ held: 0, waiting: 0 });
  });

  it('is degraded while suspended, which answers 200, and up again after it', async () => {
    const { check, backend } = await startHealth();
    backend.turn('suspended');
    const { code, status, locks } = await check();
    expect({ code, status }).toEqual({ code: 200, status: hasDegraded ? 'degraded' : 'ok' });
    expect(locks).toMatchObject({ status: hasDegraded ? 'degraded' : 'up', state: 'suspended' });
    backend.turn('connected');
    expect(await check()).toMatchObject({ code: 200, status: 'ok', locks: { state: 'connected' } });
  });

  it('is down while lost, which answers 503', async () => {
    const { check, backend } = await startHealth();
    backend.turn('suspended');
    backend.turn('lost');
    expect(await check()).toMatchObject({ code: 503, status: 'error', locks: { status: 'down', state: 'lost' } });
    backend.turn('connected');
    expect(await check()).toMatchObject({ code: 200, locks: { status: 'up' } });
  });

  it('is down once it has been suspended for its session timeout, as no server can say that the session is over', async () => {
    const { check, backend } = await startHealth();
    backend.turn('suspended');
    expect(await check()).toMatchObject({ code: 200, locks: { state: 'suspended' } });
    backend.sessionTimeoutMs = 30;
    await expect.poll(() => check()).toMatchObject({ code: 503, locks: { status: 'down', state: 'lost' } });
    backend.turn('connected');
    expect(await check()).toMatchObject({ code: 200, locks: { status: 'up' } });
  });

  it('counts a lost connection as suspended for graceMs', async () => {
    const { check, backend, want } = await startHealth();
    want({ graceMs: 3_600_000 });
    backend.turn('lost');
    expect(await check()).toMatchObject({ code: 200, locks: { state: 'lost' } });
    want({ graceMs: 3_600_000, suspended: 'down' });
    expect(await check()).toMatchObject({ code: 503, locks: { state: 'lost' } });
    want({ graceMs: 0 });
    expect(await check()).toMatchObject({ code: 503, locks: { state: 'lost' } });
  });

  it('has the statuses that the options name', async () => {
    const { check, backend, want } = await startHealth();
    want({ suspended: 'down', lost: 'up' });
    backend.turn('suspended');
    expect(await check()).toMatchObject({ code: 503, locks: { status: 'down' } });
    backend.turn('lost');
    expect(await check()).toMatchObject({ code: 200, locks: { status: 'up', state: 'lost' } });
  });

  it('measures the time in a state from its beginning, also where the backend tells no changes', async () => {
    const { check, backend } = await startHealth();
    const before = (await check()).locks['sinceMs'] as number;
    await expect.poll(async () => (await check()).locks['sinceMs'] as number).toBeGreaterThan(before + 20);
    const long = (await check()).locks['sinceMs'] as number;
    const asked = performance.now();
    backend.tellNothing();
    backend.turn('suspended');
    const { sinceMs } = (await check()).locks as { sinceMs: number };
    expect(sinceMs).toBeLessThanOrEqual(Math.ceil(performance.now() - asked));
    expect(long).toBeGreaterThan(20);
  });

  it('asks no server, whether alive or ready', async () => {
    const { check, backend } = await startHealth();
    const { questions } = backend;
    const requests = backend.requests.length;
    for (const state of ['connected', 'suspended', 'lost'] as const) {
      backend.turn(state);
      await check('/ready');
      expect(await check('/live')).toMatchObject({ code: 200, status: 'ok' });
    }
    expect(backend.questions).toBe(questions);
    expect(backend.requests).toHaveLength(requests);
  });

  it('names no key and no host', async () => {
    const { check, locks } = await startHealth();
    const lease = await locks.acquire('secret/orders', { label: 'Orders.place' });
    expect(JSON.stringify(await check())).not.toMatch(/secret|orders|Orders|zk1/);
    await lease.release();
  });

  it('refuses a wrong option, and a connection that is not there', async () => {
    const { app, locks } = await startHealth();
    expect(locks).toBeDefined();
    const health = app.get(LockHealthIndicator);
    const refused = (options: object, message: RegExp) => {
      expect(() => health.isHealthy('locks', options)).toThrow(LockConfigurationError);
      expect(() => health.isHealthy('locks', options)).toThrow(message);
    };
    refused({ lost: 'sick' }, /lost must be 'up', 'degraded' or 'down'/);
    refused({ suspended: true }, /suspended must be/);
    refused({ graceMs: -1 }, /graceMs must be a number of milliseconds/);
    refused({ connection: '' }, /connection must be text/);
    refused({ timeout: 1 }, /unknown field "timeout"/);
    refused({ connection: 'second' }, /no connection "second": import LockModule.forRoot\({ name: 'second', … }\)/);
  });

  it('finds a connection that is not global', async () => {
    const { check } = await startHealth({ isGlobal: false });
    expect(await check()).toMatchObject({ code: 200, locks: { status: 'up' } });
  });
});

describe('SIGTERM', () => {
  it.each([
    ['before', false],
    ['after', true],
  ])(
    'rejects waiters only after the balancer has had its time, with LockModule imported %s terminus',
    async (_, isLast) => {
      const gracefulShutdownTimeoutMs = 400;
      const { app, locks } = await startHealth({ gracefulShutdownTimeoutMs, isLast });
      await locks.acquire('a');
      const waiting = locks.acquire('a');
      const ended = waiting.then(
        () => ({ error: undefined, afterMs: 0 }),
        (error: unknown) => ({ error, afterMs: performance.now() - begun }),
      );
      const begun = performance.now();
      await (app as unknown as { close(signal: string): Promise<void> }).close('SIGTERM');
      const { error, afterMs } = await ended;
      expect(error).toBeInstanceOf(LockShutdownError);
      expect(afterMs).toBeGreaterThan(gracefulShutdownTimeoutMs - 5);
    },
  );
});
