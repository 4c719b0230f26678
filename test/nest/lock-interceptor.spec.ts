import 'reflect-metadata';
import {
  Controller,
  Get,
  Injectable,
  Param,
  ParseIntPipe,
  Post,
  Req,
  Scope,
  Sse,
  StreamableFile,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import type { CallHandler, CanActivate, ExecutionContext, MessageEvent, NestInterceptor, Type } from '@nestjs/common';
import { APP_INTERCEPTOR, ExternalContextCreator } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { Readable } from 'node:stream';
import {
  BehaviorSubject,
  catchError,
  concat,
  concatMap,
  defer,
  from,
  ignoreElements,
  lastValueFrom,
  map,
  NEVER,
  Observable,
  of,
  race,
  Subject,
  throwError,
  toArray,
} from 'rxjs';
import { io } from 'socket.io-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { nextTurn } from '../../lib/async/timer.js';
import { currentLease, DistributedLock, key, LockInterceptor, LockModule, LockService } from '../../lib/index.js';
import type { DistributedLockOptions } from '../../lib/index.js';
import { memory } from '../../lib/memory/memory.backend.js';
import { watchLog } from '../support/log-lines.js';
import { serve } from './platforms.js';

let log: string[] = [];
let placing = () => {};
const note = (what: string) => log.push(`${what}, ${currentLease()?.key ?? 'unlocked'}`);

/** A transaction like that of an ORM's interceptor: it is committed or rolled back before the answer is sent. */
@Injectable()
class TransactionInterceptor implements NestInterceptor {
  async #end(how: string) {
    await Promise.resolve();
    note(how);
  }

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    note('begin');
    return next.handle().pipe(
      concatMap(async (value) => (await this.#end('commit'), value)),
      catchError((error: unknown) => from(this.#end('rollback')).pipe(concatMap(() => throwError(() => error)))),
    );
  }
}

@Injectable()
class RefusingGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest().query.as !== 'stranger';
  }
}

const OrderLock = LockInterceptor((context) => key`order/${String(context.switchToHttp().getRequest().params.id)}`, {
  waitMs: 0,
});

@Controller('orders')
class OrdersController {
  @Post(':id')
  @UseGuards(RefusingGuard)
  @UseInterceptors(OrderLock, TransactionInterceptor)
  async place(@Param('id', ParseIntPipe) id: number) {
    note('place');
    placing();
    return { id, key: currentLease()?.key };
  }

  @Post(':id/inside')
  @UseInterceptors(OrderLock)
  @DistributedLock((id: string) => key`order/${id}`)
  async inside(@Param('id') _id: string) {
    return { token: String(currentLease()?.fencingToken) };
  }

  @Post(':id/fail')
  @UseInterceptors(OrderLock, TransactionInterceptor)
  async fail() {
    throw new TypeError('out of stock');
  }
}

@Controller('class')
@UseInterceptors(LockInterceptor('whole-class', { label: 'by hand' }), TransactionInterceptor)
class LockedController {
  @Get()
  async first() {
    return { key: currentLease()?.key };
  }
}

@Controller({ path: 'scoped', scope: Scope.REQUEST })
class ScopedController {
  @Get(':id')
  @UseInterceptors(OrderLock)
  async get() {
    return { key: currentLease()?.key };
  }
}

@Controller('skipping')
class SkippingController {
  @Get()
  @UseInterceptors(LockInterceptor('skipped', { onContention: 'skip' }))
  async get() {
    return { ran: true };
  }
}

const controllers = [OrdersController, LockedController, ScopedController, SkippingController];

async function startShop() {
  const served = await serve({ controllers });
  log = [];
  const ask = async (method: string, path: string) => {
    const answer = await fetch(`${served.url}${path}`, { method });
    const text = await answer.text();
    note(`answered ${answer.status}`);
    return { status: answer.status, body: text && JSON.parse(text) };
  };
  return { ...served, ask };
}

describe('LockInterceptor above an HTTP handler', () => {
  it('holds the lease until the transaction of the next interceptor is committed', async () => {
    const { ask, backend } = await startShop();
    expect(await ask('POST', '/orders/42')).toEqual({ status: 201, body: { id: 42, key: 'order/42' } });
    expect(log).toEqual(['begin, order/42', 'place, order/42', 'commit, order/42', 'answered 201, unlocked']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('releases the lease after the commit, and before the client is answered', async () => {
    const { ask, backend } = await startShop();
    placing = () => void backend.leaseOn('order/42')?.released.then(() => log.push('released'));
    onTestFinished(() => void (placing = () => {}));
    await ask('POST', '/orders/42');
    expect(log.slice(2)).toEqual(['commit, order/42', 'released', 'answered 201, unlocked']);
  });

  it('rolls back under the lease when the handler fails', async () => {
    const { ask, backend } = await startShop();
    expect((await ask('POST', '/orders/42/fail')).status).toBe(500);
    expect(log).toEqual(['begin, order/42', 'rollback, order/42', 'answered 500, unlocked']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('shares its lease with a decorator of the same key inside', async () => {
    const { ask, backend } = await startShop();
    expect((await ask('POST', '/orders/42/inside')).body).toEqual({ token: expect.stringMatching(/^\d+$/) });
    expect(backend.requests).toHaveLength(1);
  });

  it('refuses the request when another caller holds the key, and runs nothing', async () => {
    const { app, ask } = await startShop();
    await using _held = await app.get(LockService).acquire('order/42');
    expect(await ask('POST', '/orders/42')).toMatchObject({ status: 423, body: { code: 'LOCK_TIMEOUT' } });
    expect(log).toEqual(['answered 423, unlocked']);
  });

  it('runs after guards and before pipes', async () => {
    const { ask, backend } = await startShop();
    expect((await ask('POST', '/orders/42?as=stranger')).status).toBe(403);
    expect(backend.requests).toEqual([]);
    expect((await ask('POST', '/orders/many')).status).toBe(400);
    expect(backend.requests.map(({ key: asked }) => asked)).toEqual(['order/many']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('works above a class, and in request scope', async () => {
    const { ask } = await startShop();
    expect((await ask('GET', '/class')).body).toEqual({ key: 'whole-class' });
    expect((await ask('GET', '/scoped/7')).body).toEqual({ key: 'order/7' });
  });

  it('is labelled with the handler unless it has a label', async () => {
    const { ask, backend } = await startShop();
    await ask('POST', '/orders/42');
    await ask('GET', '/class');
    expect(backend.requests.map(({ label }) => label)).toEqual(['OrdersController.place', 'by hand']);
  });

  it("with onContention: 'skip' answers nothing and logs at debug level", async () => {
    const { app, ask } = await startShop();
    expect((await ask('GET', '/skipping')).body).toEqual({ ran: true });
    await using _held = await app.get(LockService).acquire('skipped');
    const lines = watchLog();
    expect(await ask('GET', '/skipping')).toEqual({ status: 200, body: '' });
    expect(lines.debug).toEqual([[expect.stringMatching(/^SkippingController.get was skipped: "skipped" /)]]);
  });

  it('can apply to the whole application', async () => {
    const providers = [{ provide: APP_INTERCEPTOR, useClass: LockInterceptor('everything') }];
    @Controller()
    class AnyController {
      @Get()
      async get() {
        return { key: currentLease()?.key };
      }
    }
    const { url } = await serve({ controllers: [AnyController], providers });
    expect(await (await fetch(url)).json()).toEqual({ key: 'everything' });
  });
});

@Controller()
class StockHandler {
  @MessagePattern('stream')
  @UseInterceptors(LockInterceptor((context) => key`stock/${String(context.switchToRpc().getData())}`))
  stream(sku: string): Observable<unknown> {
    return of(sku, 'end').pipe(concatMap(async (value) => [value, currentLease()?.key]));
  }
}

@WebSocketGateway()
class StockGateway {
  @SubscribeMessage('take')
  @UseInterceptors(LockInterceptor((context) => key`stock/${String(context.switchToWs().getData())}`))
  async take(@MessageBody() sku: string) {
    return { event: 'took', data: [sku, currentLease()?.key] };
  }
}

describe('LockInterceptor above other handlers', () => {
  it('holds the lease for everything that a message handler sends', async () => {
    const { app, backend } = await serve({ controllers: [StockHandler] }, {}, async (made) => {
      const options = { host: '127.0.0.1', port: 0 };
      made.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options });
      await made.startAllMicroservices();
    });
    const { port } = app.getMicroservices()[0]!.unwrap<Server>().address() as AddressInfo;
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
    onTestFinished(() => client.close());
    const sent = await lastValueFrom(client.send('stream', 'a').pipe(toArray()));
    expect(sent).toEqual([
      ['a', 'stock/a'],
      ['end', 'stock/a'],
    ]);
    expect(backend.busyKeys).toEqual([]);
  });

  it('holds the lease for a gateway', async () => {
    const { url, backend } = await serve({ providers: [StockGateway] });
    const socket = io(url, { transports: ['websocket'] });
    onTestFinished(() => void socket.close());
    const took = new Promise((resolve) => socket.once('took', resolve));
    socket.emit('take', 'a');
    expect(await took).toEqual(['a', 'stock/a']);
    expect(backend.busyKeys).toEqual([]);
  });

  it('holds the lease for a resolver', async () => {
    @Injectable()
    class StockResolver {
      @UseInterceptors(LockInterceptor((context) => key`stock/${String(context.getArgByIndex(1).sku)}`))
      async take(_root: unknown, { sku }: { sku: string }) {
        return [sku, currentLease()?.key];
      }
    }
    const { app, backend } = await serve({ providers: [StockResolver] });
    const resolver = app.get(StockResolver);
    const rest = [undefined, undefined, undefined, undefined, undefined, 'graphql'] as unknown as [];
    const creator = app.get(ExternalContextCreator);
    const take = creator.create(resolver as never, resolver.take as never, 'take', ...rest);
    expect(await take(undefined, { sku: 'a' })).toEqual(['a', 'stock/a']);
    expect(backend.busyKeys).toEqual([]);
  });
});

/** An interceptor, called as Nest calls it, around a handler whose stream the test controls. */
async function startIntercepting(
  handled: Observable<unknown>,
  handler: [type: Type, method: Function] = STREAM,
  options: DistributedLockOptions = {},
) {
  const Interceptor = LockInterceptor('stream', options);
  const { app, backend } = await serve({ providers: [Interceptor] });
  const [type, method] = handler;
  const context = { getClass: () => type, getHandler: () => method };
  const interceptor = app.get<NestInterceptor>(Interceptor);
  const result = await interceptor.intercept(context as never, { handle: () => handled });
  return { app, backend, result };
}

/** A handler that is declared to return an Observable. */
const STREAM: [Type, Function] = [StockHandler, StockHandler.prototype.stream];
const ASYNC: [Type, Function] = [StockGateway, StockGateway.prototype.take];

/** A subscriber that has left while an async handler was running. It ends when the gate does. */
async function leaveWhileRunning(handled: (gate: Promise<unknown>) => Observable<unknown>) {
  const [inside, gate] = [deferred(), deferred()];
  const source = handled(gate.promise);
  const { backend, result } = await startIntercepting(
    defer(() => (inside.resolve(), source)),
    ASYNC,
  );
  const subscription = result.subscribe({ error: () => expect.unreachable() });
  await inside.promise;
  const lease = backend.leaseOn('stream') ?? expect.unreachable();
  subscription.unsubscribe();
  return { backend, gate, lease };
}

describe('the lease of a LockInterceptor', () => {
  it('is released when the last subscriber of a stream has left', async () => {
    const [subscribed, unsubscribed] = [deferred(), deferred()];
    const handled = new Observable(() => {
      subscribed.resolve();
      return () => unsubscribed.resolve();
    });
    const { backend, result } = await startIntercepting(handled);
    expect(backend.requests).toEqual([]);
    const subscription = result.subscribe();
    await subscribed.promise;
    const released = backend.leaseOn('stream')?.released ?? expect.unreachable();
    subscription.unsubscribe();
    await unsubscribed.promise;
    await released;
    expect(backend.busyKeys).toEqual([]);
  });

  it.each([
    ['ends', (gate: Promise<unknown>) => defer(async () => gate)],
    ['fails', (gate: Promise<unknown>) => defer(() => gate.then(() => Promise.reject(new TypeError('its own'))))],
    [
      'begins an endless stream',
      (gate: Promise<unknown>) =>
        concat(
          defer(async () => gate),
          NEVER,
        ),
    ],
    ['completes without a value', (gate: Promise<unknown>) => defer(async () => gate).pipe(ignoreElements())],
  ])('lasts until an async handler %s, although its subscriber has left', async (_what, handled) => {
    const { backend, gate, lease } = await leaveWhileRunning(handled);
    await nextTurn();
    expect(backend.busyKeys).toEqual(['stream']);
    gate.resolve();
    await lease.released;
    expect(backend.busyKeys).toEqual([]);
  });

  it('is released at once when a subscriber leaves the stream of an async handler that has begun', async () => {
    const values = new BehaviorSubject('first');
    const { backend, result } = await startIntercepting(values, ASYNC);
    const first = deferred<unknown>();
    const subscription = result.subscribe(first.resolve);
    expect(await first.promise).toBe('first');
    const released = backend.leaseOn('stream')?.released ?? expect.unreachable();
    subscription.unsubscribe();
    await released;
    expect([values.observed, backend.busyKeys]).toEqual([false, []]);
  });

  it('is not waited for any more when the subscriber of an async handler has left', async () => {
    const { app, backend, result } = await startIntercepting(of('never'), ASYNC, { waitMs: Infinity });
    await using _held = await app.get(LockService).acquire('stream');
    const subscription = result.subscribe(() => expect.unreachable());
    await backend.standing('stream', 2);
    subscription.unsubscribe();
    await backend.standing('stream', 1);
  });

  it('is separate for each subscription: a second one waits for its own lease', async () => {
    const keys = defer(async () => currentLease()?.fencingToken);
    const { backend, result } = await startIntercepting(keys);
    const [first, second] = [await lastValueFrom(result), await lastValueFrom(result)];
    expect(first).not.toBe(second);
    expect(backend.requests).toHaveLength(2);
  });
});

/** A client that has asked for `/`, and left when the handler said that it was inside. */
async function leaveRequest(type: Type, inside: Promise<unknown>) {
  const { url, backend } = await serve({ controllers: [type] });
  const client = new AbortController();
  const answered = fetch(url, { signal: client.signal }).then(
    () => {},
    () => {},
  );
  await inside;
  const lease = backend.leaseOn('stream') ?? expect.unreachable();
  client.abort();
  await answered;
  return { backend, lease };
}

describe('the lease of a LockInterceptor whose HTTP client has left', () => {
  it('is released when an async handler with @Sse has returned a stream that is silent', async () => {
    const events = new Subject<MessageEvent>();
    const inside = deferred();
    @Controller()
    class SilentController {
      @Sse()
      @UseInterceptors(LockInterceptor('stream'))
      async events() {
        await nextTurn();
        return defer(() => (inside.resolve(), events));
      }
    }
    const { backend, lease } = await leaveRequest(SilentController, inside.promise);
    await lease.released;
    expect([events.observed, backend.busyKeys]).toEqual([false, []]);
  });

  it('lasts until the async handler has ended', async () => {
    const [inside, left, gate] = [deferred(), deferred(), deferred()];
    @Controller()
    class SlowController {
      @Get()
      @UseInterceptors(LockInterceptor('stream'))
      async get(@Req() request: IncomingMessage) {
        request.socket.once('close', left.resolve);
        inside.resolve();
        await gate.promise;
      }
    }
    const { backend, lease } = await leaveRequest(SlowController, inside.promise);
    await left.promise;
    expect(backend.busyKeys).toEqual(['stream']);
    gate.resolve();
    await lease.released;
    expect(backend.busyKeys).toEqual([]);
  });
});

describe('the lease of a LockInterceptor behind a time-out', () => {
  it.each([
    ['file', (stream: Readable) => new StreamableFile(stream)],
    ['stream', (stream: Readable) => stream],
  ])('lasts until the async handler has returned a %s, which is then destroyed', async (_what, bodyOf) => {
    const [inside, gate] = [deferred(), deferred()];
    const stream = new Readable({ read() {} });
    class TimeoutInterceptor implements NestInterceptor {
      intercept(_context: ExecutionContext, next: CallHandler) {
        return race(next.handle(), from(inside.promise).pipe(map(() => 'too late')));
      }
    }
    @Controller()
    class FileController {
      @Get()
      @UseInterceptors(TimeoutInterceptor, LockInterceptor('stream'))
      async file() {
        inside.resolve();
        await gate.promise;
        return bodyOf(stream);
      }
    }
    const { url, backend } = await serve({ controllers: [FileController] });
    expect(await (await fetch(url)).text()).toBe('too late');
    expect(backend.busyKeys).toEqual(['stream']);
    const { released } = backend.leaseOn('stream') ?? expect.unreachable();
    gate.resolve();
    await released;
    expect([stream.destroyed, backend.busyKeys]).toEqual([true, []]);
  });
});

describe('a wrongly used LockInterceptor', () => {
  const compile = (type: ReturnType<typeof LockInterceptor>, imports: ReturnType<typeof LockModule.forRoot>[]) => {
    @Controller()
    class Orders {
      @Get()
      @UseInterceptors(type)
      async get() {}
    }
    return Test.createTestingModule({ imports, controllers: [Orders] }).compile();
  };

  it('keeps the application from starting without LockModule, and names the missing import', async () => {
    await expect(compile(LockInterceptor('a'), [])).rejects.toThrow(
      'LockService of connection "default", for LockInterceptor: import LockModule.forRoot({…}) in the root module',
    );
  });

  it('keeps the application from starting with a connection that is not registered', async () => {
    const imports = [LockModule.forRoot({ backend: memory() })];
    await expect(compile(LockInterceptor('a', { connection: 'reports' }), imports)).rejects.toThrow(
      "import LockModule.forRoot({ name: 'reports', … }) in the root module",
    );
  });

  it('acquires a lock of the named connection', async () => {
    @Controller()
    class Reports {
      @Get()
      @UseInterceptors(LockInterceptor('report', { connection: 'reports' }))
      async get() {
        return { key: currentLease()?.key };
      }
    }
    const imports = [LockModule.forRoot({ name: 'reports', backend: memory() })];
    const { url, backend } = await serve({ imports, controllers: [Reports] });
    expect(await (await fetch(url)).json()).toEqual({ key: 'report' });
    expect(backend.requests).toEqual([]);
  });

  it.each([
    ['a key that is none', () => LockInterceptor('a//b'), 'LockInterceptor: the key'],
    ['no key', () => LockInterceptor(undefined as never), 'LockInterceptor: the key must be text that is not empty'],
    ['an unknown option', () => LockInterceptor('a', { ttl: 1 } as never), 'unknown field "ttl"'],
    ['a wrong option', () => LockInterceptor('a', { waitMs: -1 }), 'LockInterceptor: waitMs must be'],
  ])('is refused when the class is loaded: %s', (_what, make, message) => {
    expect(make).toThrow(message);
  });

  it('without a key, or as a decorator, reports the correct form', async () => {
    const message = "LockInterceptor needs a key: write @UseInterceptors(LockInterceptor('key'))";
    await expect(compile(LockInterceptor as never, [])).rejects.toThrow(message);
    const bare = LockInterceptor as unknown as MethodDecorator;
    const load = () => {
      class Orders {
        @bare
        async place() {}
      }
      return Orders;
    };
    expect(load).toThrow(message);
  });
});
