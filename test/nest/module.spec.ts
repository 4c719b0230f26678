import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import {
  currentLease,
  DistributedLock,
  getLockServiceToken,
  InjectLocks,
  LockConfigurationError,
  LeaderOnly,
  LockModule,
  LockService,
  ReadLock,
} from '../../lib/index.js';
import type { LockModuleOptions } from '../../lib/index.js';
import { observed } from '../unit/service/observed.backend.js';
import { startApp, started } from './app.js';

@Injectable()
class Orders {
  @DistributedLock('order')
  async place() {
    return currentLease()?.key;
  }
}

@Injectable()
class Stock {
  @DistributedLock('stock', { connection: 'stock' })
  async take() {
    return currentLease()?.key;
  }

  @ReadLock('prices')
  async price() {
    return currentLease()?.key;
  }
}

@Injectable()
class Both {
  @InjectLocks('stock') readonly stock!: LockService;

  constructor(@InjectLocks() readonly main: LockService) {}
}

const boot = (metadata: Parameters<typeof Test.createTestingModule>[0]) =>
  started(Test.createTestingModule(metadata).compile());

describe('LockModule.forRoot', () => {
  it('provides one LockService, whose hooks Nest calls once each', async () => {
    const { app, backend } = await startApp({ providers: [Orders] });
    expect(app.get(LockService).connectionName).toBe('default');
    expect(backend.connects).toBe(1);
    await app.close();
    expect(backend.closes).toBe(1);
    await expect(app.get(LockService).acquire('a')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  });

  it.each([
    ['after', ['up', 'down']],
    ['before', ['down', 'up']],
  ])('closes its connection when another cannot connect %s it', async (_when, order) => {
    const [up, down] = [observed(), observed()];
    const unreachable = () => {
      const backend = down.create();
      backend.connect = () => Promise.reject(new TypeError('no servers'));
      return backend;
    };
    const definitions = { up, down: { name: 'down', create: unreachable } };
    const imports = order.map((name) =>
      LockModule.forRoot({ name, backend: definitions[name as keyof typeof definitions] }),
    );
    await expect(boot({ imports })).rejects.toThrow('no servers');
    expect([up.last.closes, down.last.closes]).toEqual([1, 1]);
  });

  it.each([
    ['connect', 'no servers'],
    ['explore', '@LeaderOnly on Bad.run'],
  ])('fails to start with the first error when closing fails, too: %s', async (what, message) => {
    const definition = observed();
    const broken = () => {
      const backend = definition.create();
      if (what === 'connect') backend.connect = () => Promise.reject(new TypeError('no servers'));
      const close = backend.close.bind(backend);
      // Once: the test closes the application as well.
      backend.close = () => {
        backend.close = close;
        return Promise.reject(new TypeError('not closed'));
      };
      return backend;
    };
    @Injectable()
    class Bad {
      @LeaderOnly('poller')
      async run() {}
    }
    const imports = [LockModule.forRoot({ backend: { name: 'broken', create: broken } })];
    await expect(boot({ imports, providers: what === 'explore' ? [Bad] : [] })).rejects.toThrow(message);
  });

  it('works in an application context without HTTP, without further imports', async () => {
    @Module({ providers: [Orders] })
    class Feature {}
    @Module({ imports: [Feature, LockModule.forRoot({ backend: observed() })] })
    class AppModule {}
    const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
    expect(await app.get(Orders).place()).toBe('order');
    await app.close();
  });

  it('connects before any other provider is initialised, in any order of imports', async () => {
    const definition = observed();
    @Injectable()
    class Early {
      connects = 0;
      key: string | undefined;

      async onModuleInit() {
        this.connects = definition.last.connects;
        this.key = await this.work();
      }

      @DistributedLock('early')
      async work() {
        return currentLease()?.key;
      }
    }
    @Module({ providers: [Early, { provide: 'made', useFactory: () => new Early() }] })
    class Feature {}
    const app = await boot({ imports: [Feature, LockModule.forRoot({ backend: definition })] });
    expect(app.get(Early)).toMatchObject({ connects: 1, key: 'early' });
    expect(app.get('made')).toMatchObject({ connects: 1, key: 'early' });
  });

  it('makes the service visible only where it is imported with isGlobal: false', async () => {
    const locks = LockModule.forRoot({ backend: observed(), isGlobal: false });
    @Module({ imports: [locks], providers: [Orders] })
    class Inside {}
    @Module({ providers: [Orders] })
    class Outside {}
    const app = await boot({ imports: [Inside] });
    expect(await app.get(Orders).place()).toBe('order');
    await expect(boot({ imports: [Inside, Outside] })).rejects.toThrow("can't resolve dependencies of the Orders");
  });

  it('has bound factory-made instances before any module is initialised, also with isGlobal: false', async () => {
    class Early extends Orders {
      key: string | undefined;

      async onModuleInit() {
        this.key = await this.place();
      }
    }
    @Module({ providers: [{ provide: 'made', useFactory: () => new Early() }] })
    class Inner {}
    @Module({ imports: [Inner] })
    class Middle {}
    @Module({ imports: [Middle] })
    class Outer {}
    const app = await boot({ imports: [Outer, LockModule.forRoot({ backend: observed(), isGlobal: false })] });
    expect(app.get('made')).toMatchObject({ key: 'order' });
  });

  it('passes its options on', async () => {
    const { app } = await startApp({}, { waitMs: 0 });
    await using _held = await app.get(LockService).acquire('a');
    await expect(
      app
        .get(LockService)
        .mutex('a')
        .using(() => {}, { reentrant: true }),
    ).rejects.toMatchObject({
      waitMs: 0,
    });
  });

  it.each([
    [{ waitMs: -1 }, 'waitMs must be'],
    [{ backend: {} }, 'backend must be a backend'],
    [{ waitMS: 5 }, 'unknown field "waitMS"'],
    [{ isGlobal: 'yes' }, 'LockModule: isGlobal must be true or false'],
    [{ name: '' }, 'LockModule: name must be text'],
  ])('refuses %o', async (wrong, message) => {
    const start = async () => startApp({}, wrong as Partial<LockModuleOptions>);
    await expect(start()).rejects.toBeInstanceOf(LockConfigurationError);
    await expect(start()).rejects.toThrow(message);
  });

  it('refuses a value that is not an options object', () => {
    const forRoot = () => LockModule.forRoot(undefined as never);
    expect(forRoot).toThrow(LockConfigurationError);
    expect(forRoot).toThrow('LockModule options must be an object, got undefined');
  });
});

describe('LockModule.forRootAsync', () => {
  it('gets its options from a factory with injected values', async () => {
    @Module({ providers: [{ provide: 'wait', useValue: 0 }], exports: ['wait'] })
    class ConfigModule {}
    const backend = observed();
    const locks = LockModule.forRootAsync({
      imports: [ConfigModule],
      inject: ['wait'],
      useFactory: async (waitMs: number) => ({ backend, waitMs }),
    });
    const app = await boot({ imports: [locks], providers: [Orders] });
    expect(await app.get(Orders).place()).toBe('order');
    await using _held = await app.get(LockService).acquire('a');
    await expect(app.get(LockService).acquire('a')).rejects.toMatchObject({ waitMs: 0 });
    expect(backend.made).toHaveLength(1);
  });

  it('gets its options from a class, with a separate name', async () => {
    const backend = observed();
    class Config {
      createLockOptions() {
        return { backend };
      }
    }
    const locks = LockModule.forRootAsync({ name: 'stock', useClass: Config });
    const app = await boot({ imports: [locks] });
    expect(app.get<LockService>(getLockServiceToken('stock')).connectionName).toBe('stock');
  });

  it('checks them as forRoot does', async () => {
    const locks = LockModule.forRootAsync({ useFactory: () => ({ backend: observed(), drainTimeoutMs: -1 }) });
    await expect(boot({ imports: [locks] })).rejects.toThrow('drainTimeoutMs must be');
  });
});

describe('several connections', () => {
  it('coexist, each with its backend and its services by name', async () => {
    const [main, stock] = [observed(), observed()];
    const app = await boot({
      imports: [LockModule.forRoot({ backend: main }), LockModule.forRoot({ backend: stock, name: 'stock' })],
      providers: [Stock, Both, { provide: 'made', useFactory: () => new Stock() }],
    });
    for (const instance of [app.get(Stock), app.get<Stock>('made')]) {
      expect(await instance.take()).toBe('stock');
      expect(await instance.price()).toBe('prices');
    }
    expect(stock.last.requests.map(({ key }) => key)).toEqual(['stock', 'stock']);
    expect(main.last.requests.map(({ key }) => key)).toEqual(['prices', 'prices']);
    expect(app.get(Both).main.connectionName).toBe('default');
    expect(app.get(Both).stock.connectionName).toBe('stock');
    expect([main.made.length, stock.made.length, main.last.connects, stock.last.connects]).toEqual([1, 1, 1, 1]);
  });

  it('may not share a name', async () => {
    const imports = [LockModule.forRoot({ backend: observed() }), LockModule.forRoot({ backend: observed() })];
    await expect(boot({ imports })).rejects.toThrow('LockModule is registered twice as "default"');
  });

  it('may share one registration that is imported in several places', async () => {
    const backend = observed();
    const locks = LockModule.forRoot({ backend });
    @Module({ imports: [locks] })
    class Feature {}
    await boot({ imports: [locks, Feature] });
    expect(backend.made).toHaveLength(1);
  });
});

describe('an application without the connection of a method does not start', () => {
  it('without LockModule, the error names the class, the method and the missing import', async () => {
    const start = boot({ providers: [Orders] });
    await expect(start).rejects.toThrow(/can't resolve dependencies of the Orders/);
    await expect(start).rejects.toThrow(
      'LockService of connection "default", for @DistributedLock on Orders.place: import LockModule.forRoot({…})',
    );
  });

  it('without the named connection, the error names it', async () => {
    const start = boot({ imports: [LockModule.forRoot({ backend: observed() })], providers: [Stock] });
    await expect(start).rejects.toThrow(
      `for @DistributedLock on Stock.take: import LockModule.forRoot({ name: 'stock', … })`,
    );
  });

  it('without the named connection of an instance from a factory, the error lists the existing ones', async () => {
    const start = boot({
      imports: [LockModule.forRoot({ backend: observed() }), LockModule.forRoot({ backend: observed(), name: 'b' })],
      providers: [{ provide: 'made', useFactory: () => new Stock() }],
    });
    await expect(start).rejects.toBeInstanceOf(LockConfigurationError);
    await expect(start).rejects.toThrow(
      '@DistributedLock on Stock.take: no connection is named "stock" (registered: "default", "b")',
    );
  });
});
