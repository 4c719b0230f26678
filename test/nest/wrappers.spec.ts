import 'reflect-metadata';
import { applyDecorators, Controller, Get, Injectable, Logger, Scope, UseInterceptors } from '@nestjs/common';
import type { NestInterceptor } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { MessagePattern } from '@nestjs/microservices';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  CronLock,
  DistributedLock,
  LeaderOnly,
  OnElected,
  OutsideLock,
  ReadLock,
  SegmentLock,
  Semaphore,
  WriteLock,
} from '../../lib/index.js';
import { startApp } from './app.js';

const NEVER = '0 0 1 1 *';

/** A wrapper like any `@Transactional`: it does something after the method. */
function Transactional(): MethodDecorator {
  return (_target, _name, descriptor) => {
    const method = descriptor.value as unknown as Function;
    descriptor.value = async function (this: unknown, ...args: unknown[]) {
      return await Reflect.apply(method, this, args);
    } as never;
  };
}

/** The same wrapper as a Proxy, which looks like the method. */
function TransactionalProxy(): MethodDecorator {
  return (_target, _name, descriptor) => {
    const method = descriptor.value as unknown as Function;
    descriptor.value = new Proxy(method, { apply: (target, self, args) => Reflect.apply(target, self, args) }) as never;
  };
}

/** A wrapper whose function has the given name. */
function Named(name: string): MethodDecorator {
  return (_target, _name, descriptor) => {
    const method = descriptor.value as unknown as Function;
    const wrapper = (...args: unknown[]) => Reflect.apply(method, undefined, args);
    descriptor.value = Object.defineProperty(wrapper, 'name', { value: name }) as never;
  };
}

/** A wrapper like `@autobind`. */
function Bound(): MethodDecorator {
  return (_target, _name, { value }) => ({
    get: () => {
      got++;
      return value as never;
    },
  });
}

let got = 0;

function warnings(): string[] {
  const warned: string[] = [];
  const warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation((message: string) => void warned.push(message));
  onTestFinished(() => warn.mockRestore());
  return warned;
}

const places = (warned: readonly string[]) => warned.map((warning) => warning.replace(/ stands below .*/, '')).sort();

describe('a lock below a decorator that wraps the method', () => {
  it('is warned about once, with the consequence and the remedy', async () => {
    @Injectable()
    class Orders {
      @Transactional()
      @DistributedLock('order')
      async place() {}
    }
    @Injectable()
    class SpecialOrders extends Orders {}
    const warned = warnings();
    await startApp({ providers: [Orders, SpecialOrders, { provide: 'again', useValue: new Orders() }] });
    expect(warned).toEqual([
      '@DistributedLock on Orders.place stands below a decorator that wraps the method. What that one does after the ' +
        'method, such as a commit, happens when the lease has been given back. Put @DistributedLock above it (after it in ' +
        'the list of applyDecorators), or use LockInterceptor. If the order is meant (traces, metrics), write @OutsideLock(ThatDecorator())',
    ]);
  });

  it('is detected for every lock and wrapper', async () => {
    @Injectable()
    class Orders {
      @TransactionalProxy()
      @DistributedLock('a')
      async mutex() {}
      @Transactional()
      @ReadLock('a')
      async read() {}
      @Transactional()
      @WriteLock('a')
      async write() {}
      @Transactional()
      @Semaphore('a', { permits: 2 })
      async semaphore() {}
      @Transactional()
      @SegmentLock({ key: 'b', segments: 2 })
      async segment() {}
      @Transactional()
      @LeaderOnly('leader')
      async leader() {}
      @Cron(NEVER)
      @Transactional()
      @CronLock()
      async nightly() {}
    }
    const warned = warnings();
    await startApp({ imports: [ScheduleModule.forRoot()], providers: [Orders] });
    expect(places(warned)).toEqual(
      [
        '@CronLock on Orders.nightly',
        '@DistributedLock on Orders.mutex',
        '@LeaderOnly on Orders.leader',
        '@ReadLock on Orders.read',
        '@SegmentLock on Orders.segment',
        '@Semaphore on Orders.semaphore',
        '@WriteLock on Orders.write',
      ].sort(),
    );
  });

  it('is detected on every instance that Nest creates or receives', async () => {
    class Base {
      @Transactional()
      @DistributedLock('inherited')
      async inherited() {}
    }
    @Controller()
    class Api extends Base {
      @Get()
      @Transactional()
      @DistributedLock('api')
      async get() {}
    }
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @Transactional()
      @DistributedLock('request')
      async handle() {}
    }
    class Made {
      @Transactional()
      @DistributedLock('made')
      async run() {}
    }
    class Value {
      @Transactional()
      @DistributedLock('value')
      async run() {}
    }
    const warned = warnings();
    await startApp({
      controllers: [Api],
      providers: [
        PerRequest,
        { provide: 'made', useFactory: () => new Made() },
        { provide: 'v', useValue: new Value() },
      ],
    });
    expect(places(warned)).toEqual(
      ['Base.inherited', 'Api.get', 'PerRequest.handle', 'Made.run', 'Value.run']
        .map((place) => `@DistributedLock on ${place}`)
        .sort(),
    );
  });

  it('is detected between two locks, for the lower one only', async () => {
    @Injectable()
    class Orders {
      @DistributedLock('above')
      @Transactional()
      @Semaphore('below', { permits: 2 })
      async place() {}
    }
    const warned = warnings();
    await startApp({ providers: [Orders] });
    expect(places(warned)).toEqual(['@Semaphore on Orders.place']);
  });

  it('is warned about with the wrapper’s name, if it has one', async () => {
    @Injectable()
    class Orders {
      @Named('runInTransaction')
      @DistributedLock('a')
      async place() {}
      @Named('cancel')
      @DistributedLock('a')
      async cancel() {}
    }
    const warned = warnings();
    await startApp({ providers: [Orders] });
    expect(warned.map((warning) => / \(its function is called "(.*)"\)/.exec(warning)?.[1])).toEqual([
      'runInTransaction',
      undefined,
    ]);
  });
});

describe('cases without a warning', () => {
  it('a lock above the wrapper, nested locks, decorators of Nest, and a class outside of the application', async () => {
    const Locked = () => applyDecorators(Get('all'), DistributedLock('a') as MethodDecorator);
    const noop: NestInterceptor = { intercept: (_context, next) => next.handle() };
    @Controller()
    class Orders {
      @DistributedLock('order')
      @Transactional()
      async place() {}
      @DistributedLock('one')
      @ReadLock('other')
      @Semaphore('third', { permits: 2 })
      async locks() {}
      @Cron(NEVER)
      @CronLock()
      @LeaderOnly('leader')
      async nightly() {}
      @OnEvent('event')
      @MessagePattern('message')
      @UseInterceptors(noop)
      @Get()
      @DistributedLock('order')
      async get() {}
      @Locked()
      async all() {}
      @OnElected('leader')
      @Transactional()
      async elected() {}
      @Transactional()
      @OnElected('leader')
      async electedBelow() {}
    }
    @Injectable()
    class Careful extends Orders {
      override async place() {
        return super.place();
      }
    }
    class Unused {
      @Transactional()
      @DistributedLock('unused')
      async run() {}
    }
    const warned = warnings();
    await startApp({ imports: [ScheduleModule.forRoot()], controllers: [Orders], providers: [Careful] });
    expect(Unused).toBeDefined();
    expect(warned).toEqual([]);
  });

  it('a Proxy around an instance, or a method from a getter, which is not called', async () => {
    class Proxied {
      @DistributedLock('a')
      async run() {}
    }
    @Injectable()
    class WithGetter {
      @Bound()
      @DistributedLock('a')
      async run() {}
      get now(): number {
        throw new Error('must not be read');
      }
    }
    const warned = warnings();
    const traced = new Proxy(new Proxied(), { get: (target, name) => Reflect.get(target, name) });
    await startApp({ providers: [WithGetter, { provide: 'proxied', useValue: traced }] });
    expect(warned).toEqual([]);
    expect(got).toBe(0);
  });

  it('a wrapper in OutsideLock; the next one above it is still detected', async () => {
    @Injectable()
    class Orders {
      @OutsideLock(Transactional())
      @OutsideLock(TransactionalProxy())
      @DistributedLock('a')
      async meant() {}
      @Transactional()
      @OutsideLock(Transactional())
      @DistributedLock('a')
      async forgotten() {}
      @OutsideLock(Get())
      @DistributedLock('a')
      async unwrapped() {}
    }
    const warned = warnings();
    const { app } = await startApp({ providers: [Orders] });
    expect(places(warned)).toEqual(['@DistributedLock on Orders.forgotten']);
    await app.get(Orders).meant();
  });

  it('OutsideLock is refused without a decorator, and where there is no method', () => {
    expect(() => OutsideLock(undefined as never)).toThrow(
      '@OutsideLock: the decorator must be a method decorator, got undefined',
    );
    expect(() => OutsideLock(Get())({}, 'place', { get: () => undefined })).toThrow(/cannot lock an accessor/);
  });
});
