import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { MockInstance } from 'vitest';
import { LockModule } from '../../lib/index.js';
import type { LockModuleOptions } from '../../lib/index.js';
import { memory, MemoryBackend } from '../../lib/memory/memory.backend.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { started } from './app.js';

/** Locks in memory that claim to outlive their process. */
class LastingBackend extends MemoryBackend {
  readonly lockedAfterDeathMs = 7_000;
}

const lasting = { name: 'lasting', create: () => new LastingBackend() };
const HINT =
  /^SIGTERM ends this process without app\.close\(\): .* locked for up to 7000 ms\. Call app\.enableShutdownHooks\(\)/;

let warn: MockInstance<Logger['warn']>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
  return () => {
    warn.mockRestore();
    vi.useRealTimers();
  };
});

const connection = (options: Partial<LockModuleOptions> & { name?: string } = {}) =>
  LockModule.forRoot({ backend: lasting, ...options });

async function start(imports: ModuleMetadata['imports'], configure?: (app: INestApplication) => unknown) {
  return started(Test.createTestingModule({ imports: imports ?? [] }).compile(), configure);
}

/** Returns the warnings about SIGTERM a while after the start. */
function hints(): unknown[] {
  vi.advanceTimersByTime(60_000);
  return warn.mock.calls
    .map(([message]) => message as unknown)
    .filter((message) => String(message).includes('SIGTERM'));
}

describe('an application without shutdown hooks', () => {
  it('is warned once about SIGTERM, however many connections it has', async () => {
    await start([connection(), connection({ name: 'reports' })]);
    expect(hints()).toEqual([expect.stringMatching(HINT)]);
    expect(hints()).toHaveLength(1);
  });

  it('is not warned when the option disables it', async () => {
    await start([connection({ warnShutdownHooks: false })]);
    expect(hints()).toEqual([]);
  });

  it('is not warned when it closes earlier', async () => {
    const app = await start([connection()]);
    await app.close();
    expect(hints()).toEqual([]);
  });

  it('is not warned when locks end with the process, or belong to a test', async () => {
    await start([LockModule.forRoot({ backend: memory() })]);
    await start([LockTestingModule.forRoot()]);
    expect(hints()).toEqual([]);
  });
});

describe('an application that handles SIGTERM', () => {
  it.each([
    ['before it starts', (app: INestApplication) => void app.enableShutdownHooks()],
    ['by a handler of its own', () => listening(() => {})],
  ])('%s is not warned', async (_, configure) => {
    await start([connection()], configure);
    expect(hints()).toEqual([]);
  });

  it('is not warned when it starts to handle it after its start', async () => {
    const app = await start([connection()]);
    app.enableShutdownHooks();
    expect(hints()).toEqual([]);
  });

  function listening(handler: () => void): void {
    process.on('SIGTERM', handler);
    onTestFinished(() => void process.off('SIGTERM', handler));
  }
});
