import 'reflect-metadata';
import { inspect } from 'node:util';
import { Controller, Get, Inject, Injectable, Module, Scope } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { Server } from 'node:http';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { currentLease, DistributedLock, LockConfigurationError, LockModule, LockService } from '../../lib/index.js';
import { observed } from '../unit/service/observed.backend.js';
import { startApp, started } from './app.js';

@Injectable()
class Orders {
  readonly name: string = 'base';

  @DistributedLock((id: string) => `order/${id}`)
  async place(id: string) {
    return `${this.name}: ${currentLease()?.key}, placed ${id}`;
  }

  async placeTwice(id: string) {
    return [await this.place(id), await this.place(id)];
  }
}

@Injectable()
class SpecialOrders extends Orders {
  override readonly name = 'special';

  @DistributedLock('special')
  async special() {
    return currentLease()?.key;
  }
}

@Injectable()
class CarefulOrders extends Orders {
  override async place(id: string) {
    return `before ${currentLease()?.key}; ${await super.place(id)}`;
  }
}

@Injectable()
class CarelessOrders extends Orders {
  override async place() {
    return `${currentLease()?.key}`;
  }
}

@Controller({ path: 'scoped', scope: Scope.REQUEST })
class ScopedController {
  readonly made = ++instances;

  @DistributedLock('scoped')
  @Get()
  async get() {
    return { key: currentLease()?.key, made: this.made };
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientOrders extends Orders {}

@Injectable()
class Shop {
  constructor(readonly orders: TransientOrders) {}
}

@Injectable()
class OtherShop extends Shop {}

let instances = 0;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

describe('locked methods work on', () => {
  it('a provider, its self-invocations included', async () => {
    const { app, backend } = await startApp({ providers: [Orders] });
    expect(await app.get(Orders).placeTwice('1')).toEqual(['base: order/1, placed 1', 'base: order/1, placed 1']);
    expect(backend.requests).toHaveLength(2);
  });

  it('a request-scoped controller, each instance of it', async () => {
    const { app } = await startApp({ controllers: [ScopedController] });
    const http = request(app.getHttpServer() as Server);
    const [one, two] = [await http.get('/scoped'), await http.get('/scoped')];
    expect([one.body.key, two.body.key]).toEqual(['scoped', 'scoped']);
    expect(one.body.made).not.toBe(two.body.made);
  });

  it('transient providers, injected and resolved', async () => {
    const { app } = await startApp({ providers: [TransientOrders, Shop, OtherShop] });
    const [first, second] = [app.get(Shop).orders, app.get(OtherShop).orders];
    const third = await app.resolve(TransientOrders);
    expect(new Set([first, second, third]).size).toBe(3);
    for (const orders of [first, second, third]) expect(await orders.place('1')).toContain('order/1');
  });

  it('a subclass: inherits locked methods, and adds its own', async () => {
    const { app } = await startApp({ providers: [SpecialOrders] });
    expect(await app.get(SpecialOrders).place('1')).toBe('special: order/1, placed 1');
    expect(await app.get(SpecialOrders).special()).toBe('special');
  });

  it('an override: super.method() is locked, without super nothing is', async () => {
    const { app } = await startApp({ providers: [CarefulOrders, CarelessOrders] });
    expect(await app.get(CarefulOrders).place('1')).toBe('before undefined; base: order/1, placed 1');
    expect(await app.get(CarelessOrders).place()).toBe('undefined');
  });

  it('instances from useFactory and useValue, frozen or not', async () => {
    const { app } = await startApp({
      providers: [
        { provide: 'made', useFactory: () => new SpecialOrders() },
        { provide: 'made later', useFactory: async () => new SpecialOrders() },
        { provide: 'frozen', useFactory: () => Object.freeze(new SpecialOrders()) },
        { provide: 'value', useValue: new SpecialOrders() },
        { provide: 'frozen value', useValue: Object.freeze(new SpecialOrders()) },
        { provide: 'nothing', useValue: null },
        { provide: 'text', useValue: 'text' },
      ],
    });
    for (const token of ['made', 'made later', 'frozen', 'value', 'frozen value']) {
      const orders = app.get<SpecialOrders>(token);
      expect([token, await orders.place('1'), await orders.special()]).toEqual([
        token,
        'special: order/1, placed 1',
        'special',
      ]);
    }
  });

  it('an instance with a Proxy around it', async () => {
    const { app } = await startApp({ providers: [Orders] });
    expect(await new Proxy(app.get(Orders), {}).place('1')).toBe('base: order/1, placed 1');
  });

  it('instances that Nest wraps in a Proxy', async () => {
    @Module({
      imports: [LockModule.forRoot({ backend: observed() })],
      providers: [Orders, { provide: 'made', useFactory: () => new SpecialOrders() }],
    })
    class AppModule {}
    // A transparent Proxy does not work for Maps, and Nest's own container is one.
    const wrapped = (instance: unknown) => isObject(instance) && !(instance instanceof Map);
    const instanceDecorator = (instance: unknown) => (wrapped(instance) ? new Proxy(instance as object, {}) : instance);
    const instrument = { instanceDecorator };
    const app = await NestFactory.create(AppModule, { logger: false, instrument });
    await app.init();
    expect(await app.get(Orders).place('1')).toBe('base: order/1, placed 1');
    expect(await app.get<Orders>('made').place('1')).toBe('special: order/1, placed 1');
    await app.close();
  });

  it('instances that show no trace of the service, because it is not enumerable', async () => {
    const { app } = await startApp({ providers: [Orders] });
    expect(app.get(Orders)).toEqual(new Orders());
    expect(inspect(app.get(Orders))).not.toContain('LockService');
    expect(Reflect.ownKeys({ ...app.get(Orders) })).toEqual(['name']);
  });
});

describe('an instance that Nest does not know', () => {
  it('does not run the method, and the error names the remedy', async () => {
    const place = new Orders().place('1');
    await expect(place).rejects.toBeInstanceOf(LockConfigurationError);
    await expect(place).rejects.toThrow(
      /^@DistributedLock on Orders\.place has no LockService \(connection "default"\), so it did not run: .*LockModule/,
    );
  });

  it('does not run a method that was detached from its instance', async () => {
    const { app } = await startApp({ providers: [Orders] });
    const place: (id: string) => Promise<string> = app.get(Orders).place;
    await expect(place('1')).rejects.toThrow('@DistributedLock on Orders.place was called without its instance');
  });
});

describe('several applications in one process', () => {
  const shared = new Orders();
  const definition = observed();

  @Module({
    imports: [LockModule.forRoot({ backend: definition })],
    providers: [
      Orders,
      { provide: 'made', useFactory: () => new Orders() },
      { provide: 'frozen', useFactory: () => Object.freeze(new Orders()) },
      { provide: 'shared', useValue: shared },
    ],
  })
  class AppModule {}

  const start = async () => {
    const app = await started(Test.createTestingModule({ imports: [AppModule] }).compile());
    return { app, backend: definition.last };
  };

  it('two of one module at once: each instance locks on its own application’s backend', async () => {
    const [one, two] = [await start(), await start()];
    for (const { app, backend } of [one, two, one]) {
      const before = backend.requests.length;
      await app.get(Orders).place('1');
      await app.get<Orders>('made').place('2');
      await app.get<Orders>('frozen').place('3');
      expect(backend.requests.slice(before).map(({ key }) => key)).toEqual(['order/1', 'order/2', 'order/3']);
    }
    expect(one.app.get(LockService)).not.toBe(two.app.get(LockService));
  });

  it('one after the other: the second works after the first was closed', async () => {
    const one = await start();
    await one.app.close();
    const two = await start();
    for (const token of [Orders, 'made', 'frozen', 'shared']) {
      expect(await two.app.get<Orders>(token).place('1')).toContain('order/1');
    }
    expect(two.backend.requests).toHaveLength(4);
    expect(one.backend.requests).toHaveLength(0);
  });

  it('a shared value belongs to the later application while that runs, then to the first again', async () => {
    const one = await start();
    const two = await start();
    await shared.place('1');
    expect([one.backend.requests.length, two.backend.requests.length]).toEqual([0, 1]);
    await two.app.close();
    await shared.place('2');
    expect([one.backend.requests.length, two.backend.requests.length]).toEqual([1, 1]);
    await one.app.close();
    await expect(shared.place('3')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
  });
});

describe('a locked class in a module test', () => {
  it('accepts any stand-in for LockService', async () => {
    const asked: string[] = [];
    const fake = {
      mutex: (key: string) => ({ using: async (work: () => unknown) => (asked.push(key), work()) }),
    };
    const testing = await Test.createTestingModule({
      providers: [Orders, { provide: LockService, useValue: fake }],
    }).compile();
    expect(await testing.get(Orders).place('1')).toBe('base: undefined, placed 1');
    expect(asked).toEqual(['order/1']);
  });
});

describe('injection by name', () => {
  @Injectable()
  class Named {
    constructor(
      readonly byType: LockService,
      @Inject(LockService) readonly byToken: LockService,
    ) {}
  }

  it('gives a constructor the LockService by its type', async () => {
    const { app } = await startApp({ providers: [Named] });
    expect(app.get(Named).byType).toBeInstanceOf(LockService);
    expect(app.get(Named).byType).toBe(app.get(Named).byToken);
  });
});
