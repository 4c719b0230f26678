import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import {
  CoordinationService,
  getCoordinationToken,
  InjectCoordination,
  LockConfigurationError,
  LockModule,
  LockService,
} from '../../lib/index.js';
import type { LockBackend } from '../../lib/index.js';
import { MemoryBackend } from '../../lib/memory/memory.backend.js';
import { observed } from '../unit/service/observed.backend.js';
import { startApp, started } from './app.js';

@Injectable()
class Mailer {
  readonly sent: string[] = [];
  loop: Promise<void> | undefined;

  constructor(private readonly coordination: CoordinationService) {}

  onModuleInit(): void {
    this.loop = this.run();
  }

  private async run(): Promise<void> {
    for await (const mail of this.coordination.queue<string>('mail').consume()) {
      this.sent.push(mail.value);
      await mail.ack();
    }
  }
}

describe('CoordinationService', () => {
  it('is injected by its type, and runs loops until the application shuts down', async () => {
    const { app } = await startApp({ providers: [Mailer] });
    const mailer = app.get(Mailer);
    await app.get(CoordinationService).queue('mail').putAll(['a', 'b']);
    await app.get(CoordinationService).queue('mail').put('c');
    while (mailer.sent.length < 3) await new Promise((resolve) => setImmediate(resolve));
    await app.close();
    await mailer.loop;
    expect(mailer.sent).toEqual(['a', 'b', 'c']);
  });

  it('exists once per connection, by name', async () => {
    @Injectable()
    class Both {
      @InjectCoordination('stock') readonly stock!: CoordinationService;
      @InjectCoordination() readonly main!: CoordinationService;
    }
    const imports = [
      LockModule.forRoot({ service: 'test', backend: observed() }),
      LockModule.forRoot({ service: 'test', backend: observed(), name: 'stock' }),
    ];
    const app = await started(Test.createTestingModule({ imports, providers: [Both] }).compile());
    const { stock, main } = app.get(Both);
    expect([main.connectionName, stock.connectionName]).toEqual(['default', 'stock']);
    expect(app.get(getCoordinationToken('stock'))).toBe(stock);
    await stock.counter('c').add(1);
    expect((await main.counter('c').get()).value).toBe(0);
  });

  it('rejects waiting calls at shutdown, and lets work on taken items end', async () => {
    const { app } = await startApp({}, { drainTimeoutMs: 10_000 });
    const service = app.get(CoordinationService);
    await service.queue('q').put('taken');
    const item = (await service.queue('q').take())!;
    await service.barrier('b').raise();
    const waits = [
      service.queue('q').take(),
      service.queue('q', { maxItems: 1 }).put('more'),
      service.barrier('b').wait(),
      service.doubleBarrier('d', { count: 2 }).enter(),
    ].map((wait) => expect(wait).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' }));
    let isClosed = false;
    const closing = app.close().then(() => (isClosed = true));
    await Promise.all(waits);
    await expect(service.queue('q').take()).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect(await service.queue('q').take({ waitMs: 0 })).toBeNull();
    expect([isClosed, item.isHeld()]).toEqual([false, true]);
    await item.ack();
    await closing;
  });

  it('gives up items that are not acknowledged in time, and takes none afterwards', async () => {
    const { app } = await startApp({}, { drainTimeoutMs: 0 });
    const service = app.get(CoordinationService);
    await service.queue('q').put('slow');
    const item = (await service.queue('q').take())!;
    await app.close();
    expect(item.signal.reason).toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await expect(service.queue('q').take({ waitMs: 0 })).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  });

  it('rejects calls when the backend has locks only', async () => {
    class LocksOnly extends MemoryBackend implements LockBackend {
      override readonly coordination = undefined as never;
    }
    const locks = new LockService(new LocksOnly(), {
      connectionName: 'default',
      service: 'test',
      waitMs: 0,
      drainTimeoutMs: 0,
      connectOnStart: 'required',
    });
    const refused = expect(new CoordinationService(locks).queue('q').take()).rejects;
    await refused.toThrow(LockConfigurationError);
    await expect(new CoordinationService(locks).counter('c').get()).rejects.toThrow(
      /"memory" has no queues, barriers and/,
    );
  });
});
