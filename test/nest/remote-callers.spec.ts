import 'reflect-metadata';
import { Catch, Controller, Injectable, UseFilters } from '@nestjs/common';
import type { ExceptionFilter, INestApplication } from '@nestjs/common';
import { APP_FILTER, ExternalContextCreator } from '@nestjs/core';
import { ClientProxyFactory, EventPattern, MessagePattern, Transport } from '@nestjs/microservices';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { buildSchema, graphql } from 'graphql';
import type { AddressInfo, Server } from 'node:net';
import { firstValueFrom, throwError } from 'rxjs';
import { io } from 'socket.io-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DistributedLock, LockError, LockExceptionFilter, LockModule, LockService } from '../../lib/index.js';
import { memory } from '../../lib/memory/memory.backend.js';
import { watchLog } from '../support/log-lines.js';
import { serve } from './platforms.js';

const LOCKED = { statusCode: 423, code: 'LOCK_TIMEOUT', message: 'The resource is locked', retryable: true };

@Controller()
class StockHandler {
  @MessagePattern('take')
  @DistributedLock((sku: string) => `secret/${sku}`)
  async take(sku: string) {
    return `took ${sku}`;
  }

  @EventPattern('taken')
  @DistributedLock((sku: string) => `secret/${sku}`)
  async taken(_sku: string) {}
}

@Controller()
@UseFilters(LockExceptionFilter)
class FilteredStockHandler extends StockHandler {}

const TCP = { transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } } as const;

async function startHybrid(
  controller: typeof StockHandler,
  hybrid: { inheritAppConfig?: boolean },
  extra: object = {},
) {
  const { app } = await serve({ controllers: [controller], ...extra }, {}, async (made) => {
    await made.connectMicroservice<MicroserviceOptions>(TCP, hybrid);
    await made.startAllMicroservices();
  });
  const server = app.getMicroservices()[0]!.unwrap<Server>();
  return { app, client: await clientOf(server) };
}

async function clientOf(server: Server) {
  const { port } = server.address() as AddressInfo;
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  onTestFinished(() => client.close());
  return client;
}

async function failureOf(outcome: Promise<unknown>): Promise<unknown> {
  return outcome.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
}

describe('a LockError in a message handler', () => {
  const CONTENDED = { status: 'error', ...LOCKED };

  it('reaches the client of a microservice as an object that says whether to retry', async () => {
    const imports = [LockModule.forRoot({ backend: memory(), waitMs: 0 })];
    const compiled = await Test.createTestingModule({ imports, controllers: [StockHandler] }).compile();
    const app = compiled.createNestMicroservice<MicroserviceOptions>({ ...TCP, logger: false });
    onTestFinished(() => app.close());
    await app.listen();
    const client = await clientOf(app.unwrap<Server>());
    expect(await firstValueFrom(client.send('take', 'a'))).toBe('took a');
    await using _held = await app.get(LockService).acquire('secret/a');
    const log = watchLog();
    expect(await failureOf(firstValueFrom(client.send('take', 'a')))).toEqual(CONTENDED);
    expect([log.debug.length, log.warn, log.error]).toEqual([1, [], []]);
  });

  it('reaches the client of a hybrid application as well, with inheritAppConfig', async () => {
    const { app, client } = await startHybrid(StockHandler, { inheritAppConfig: true });
    await using _held = await app.get(LockService).acquire('secret/a');
    expect(await failureOf(firstValueFrom(client.send('take', 'a')))).toEqual(CONTENDED);
  });

  it('reaches the client of a hybrid application without it, by @UseFilters(LockExceptionFilter)', async () => {
    const { app, client } = await startHybrid(FilteredStockHandler, {});
    await using _held = await app.get(LockService).acquire('secret/a');
    expect(await failureOf(firstValueFrom(client.send('take', 'a')))).toEqual(CONTENDED);
  });

  it('is an internal error without a key in a hybrid application with neither', async () => {
    const { app, client } = await startHybrid(StockHandler, {});
    await using _held = await app.get(LockService).acquire('secret/a');
    const failure = await failureOf(firstValueFrom(client.send('take', 'a')));
    expect(failure).toEqual({ status: 'error', message: 'Internal server error' });
  });

  it('is left to a catch-all filter of the application', async () => {
    @Catch()
    class CatchAll implements ExceptionFilter {
      catch() {
        return throwError(() => 'caught by the application');
      }
    }
    const providers = [{ provide: APP_FILTER, useClass: CatchAll }];
    const { app, client } = await startHybrid(StockHandler, { inheritAppConfig: true }, { providers });
    await using _held = await app.get(LockService).acquire('secret/a');
    expect(await failureOf(firstValueFrom(client.send('take', 'a')))).toBe('caught by the application');
  });

  it('is logged in one line by an event handler, which sends no answer', async () => {
    const { app, client } = await startHybrid(StockHandler, { inheritAppConfig: true });
    await using _held = await app.get(LockService).acquire('secret/a');
    const log = watchLog();
    await firstValueFrom(client.emit('taken', 'a'), { defaultValue: undefined });
    await expect.poll(() => log.debug).toEqual([[expect.stringMatching(/^LockTimeoutError: "secret\/a" /)]]);
    expect(log.error).toEqual([]);
  });
});

@WebSocketGateway()
@UseFilters(LockExceptionFilter)
class StockGateway {
  @SubscribeMessage('take')
  @DistributedLock((_client: unknown, sku: string) => `secret/${sku}`)
  async take(_client: unknown, sku: string) {
    return { event: 'took', data: sku };
  }
}

@WebSocketGateway()
class UnfilteredGateway {
  @SubscribeMessage('take')
  @DistributedLock((_client: unknown, sku: string) => `secret/${sku}`)
  async take(_client: unknown, sku: string) {
    return { event: 'took', data: sku };
  }
}

interface Message {
  readonly event: string;
  readonly data: unknown;
}

/** Sends one message and resolves with the next that arrives. */
type Exchange = (event: string, data: unknown) => Promise<Message>;

async function overWs(url: string): Promise<Exchange> {
  const { WebSocket } = await import('ws');
  const socket = new WebSocket(url.replace('http', 'ws'));
  onTestFinished(() => socket.close());
  await new Promise((resolve) => socket.once('open', resolve));
  return (event, data) =>
    new Promise((resolve) => {
      socket.once('message', (message: Buffer) => resolve(JSON.parse(message.toString())));
      socket.send(JSON.stringify({ event, data }));
    });
}

async function overSocketIo(url: string): Promise<Exchange> {
  const socket = io(url, { transports: ['websocket'] });
  onTestFinished(() => void socket.close());
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return (event, data) =>
    new Promise((resolve) => {
      socket.onAny((name: string, answer: unknown) => (socket.offAny(), resolve({ event: name, data: answer })));
      socket.emit(event, data);
    });
}

const SOCKETS: Readonly<Record<string, [(app: INestApplication) => unknown, (url: string) => Promise<Exchange>]>> = {
  ws: [(app) => app.useWebSocketAdapter(new WsAdapter(app)), overWs],
  'socket.io': [() => {}, overSocketIo],
};

describe.each(Object.entries(SOCKETS))('a LockError in a gateway on %s', (_name, [configure, connect]) => {
  it('is an exception event by @UseFilters(LockExceptionFilter)', async () => {
    const { app, url } = await serve({ providers: [StockGateway] }, {}, configure);
    const exchange = await connect(url);
    expect(await exchange('take', 'a')).toEqual({ event: 'took', data: 'a' });
    await using _held = await app.get(LockService).acquire('secret/a');
    const log = watchLog();
    expect(await exchange('take', 'a')).toEqual({
      event: 'exception',
      data: { status: 'error', ...LOCKED, cause: { pattern: 'take', data: 'a' } },
    });
    expect([log.debug.length, log.error]).toEqual([1, []]);
  });
});

it('is an internal error without the filter, because Nest applies no global filter to a gateway', async () => {
  const { app, url } = await serve({ providers: [UnfilteredGateway] });
  const exchange = await overSocketIo(url);
  await using _held = await app.get(LockService).acquire('secret/a');
  const { event, data } = await exchange('take', 'a');
  expect([event, data]).toMatchObject(['exception', { message: 'Internal server error' }]);
});

@Injectable()
class StockResolver {
  @DistributedLock((_root: unknown, { sku }: { sku: string }) => `secret/${sku}`)
  async take(_root: unknown, { sku }: { sku: string }) {
    return `took ${sku}`;
  }
}

/** Calls the resolver as Nest's GraphQL drivers do: through the context creator, with their context type. */
async function startResolver(contextType?: string) {
  const { app } = await serve({ providers: [StockResolver] }, { exceptionFilter: { exposeKey: true } });
  const resolver = app.get(StockResolver);
  const creator = app.get(ExternalContextCreator);
  const rest = [undefined, undefined, undefined, undefined, undefined, contextType] as const;
  const take = creator.create(resolver as never, resolver.take as never, 'take', ...(rest as unknown as []));
  return { app, take };
}

describe('a LockError in a resolver', () => {
  it('is an error of the GraphQL answer, with its code', async () => {
    const { app, take } = await startResolver('graphql');
    const schema = buildSchema('type Query { take(sku: String!): String }');
    const ask = () =>
      graphql({
        schema,
        source: '{ take(sku: "a") }',
        fieldResolver: (root, args, context, info) => take(root, args, context, info),
      });
    expect(await ask()).toEqual({ data: { take: 'took a' } });
    await using _held = await app.get(LockService).acquire('secret/a');
    const log = watchLog();
    const { errors, data } = JSON.parse(JSON.stringify(await ask()));
    const { message, ...extensions } = LOCKED;
    expect(data).toEqual({ take: null });
    expect(errors).toEqual([expect.objectContaining({ message, extensions: { ...extensions, key: 'secret/a' } })]);
    expect([log.debug.length, log.error]).toEqual([1, []]);
  });

  it.each(['rabbit', undefined])('is unchanged when code of this process calls (context %s)', async (type) => {
    const { app, take } = await startResolver(type);
    await using _held = await app.get(LockService).acquire('secret/a');
    const failure = await failureOf(take(undefined, { sku: 'a' }));
    expect(failure).toBeInstanceOf(LockError);
    expect(failure).toMatchObject({ code: 'LOCK_TIMEOUT', key: 'secret/a' });
  });
});
