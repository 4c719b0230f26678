import 'reflect-metadata';
import { Catch, Controller, Get, HttpException, Module, Param, Post, Scope, Sse, UseFilters } from '@nestjs/common';
import type {
  ArgumentsHost,
  ExceptionFilter,
  INestApplication,
  MessageEvent,
  MiddlewareConsumer,
  NestModule,
  Type,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core';
import { concat, NEVER, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  DistributedLock,
  key,
  LockConfigurationError,
  LockError,
  LockExceptionFilter,
  LockLostError,
  LockModule,
  LockNotLeaderError,
  LockOverdueError,
  LockReentrancyError,
  LockRevokedError,
  LockService,
  LockShutdownError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../lib/index.js';
import { memory } from '../../lib/memory/memory.backend.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { watchLog } from '../support/log-lines.js';
import { PLATFORMS, serve } from './platforms.js';
import type { Platform } from './platforms.js';

const ERRORS: Readonly<Record<string, LockError>> = {
  timeout: new LockTimeoutError('secret/42', 5),
  follower: new LockNotLeaderError('secret'),
  lost: new LockLostError('secret/42', 'the session on secret-host ended'),
  revoked: new LockRevokedError('secret/42'),
  overdue: new LockOverdueError('secret/42', 5),
  unavailable: new LockUnavailableError('secret-host did not answer', { key: 'secret/42' }),
  shutdown: new LockShutdownError('secret/42'),
  reentrancy: new LockReentrancyError('secret/42', 'a reader cannot write'),
  configuration: new LockConfigurationError('secret/.. is no key', { key: 'secret/..' }),
};

@Controller('orders')
class OrdersController {
  @Post(':id')
  @DistributedLock((id: string) => key`secret/${id}`)
  async place(@Param('id') id: string) {
    return { id };
  }

  @Get('fails/:how')
  async fail(@Param('how') how: string) {
    throw ERRORS[how]!;
  }

  @Sse('stream')
  stream(): Observable<MessageEvent> {
    return concat(
      of({ data: 'first' }),
      throwError(() => ERRORS['timeout']!),
      NEVER,
    );
  }
}

const controllers = [OrdersController];

async function answerOf(url: string, path: string, init?: RequestInit) {
  const answer = await fetch(`${url}${path}`, init);
  const text = await answer.text();
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text, body: JSON.parse(text) };
}

describe.each(Object.keys(PLATFORMS) as Platform[])('a LockError in an HTTP handler on %s', (platform) => {
  it('is answered without a filter of the application, and contains no key', async () => {
    const { app, url } = await serve({ controllers }, {}, undefined, platform);
    await using _held = await app.get(LockService).acquire('secret/42');
    const answer = await answerOf(url, '/orders/42', { method: 'POST' });
    expect(answer).toMatchObject({ status: 423, retryAfter: '1' });
    expect(answer.body).toEqual({
      statusCode: 423,
      error: 'Locked',
      code: 'LOCK_TIMEOUT',
      message: 'The resource is locked',
      retryable: true,
    });
  });

  it.each([
    ['timeout', 423, 'LOCK_TIMEOUT', '1'],
    ['follower', 503, 'LOCK_NOT_LEADER', '1'],
    ['lost', 503, 'LOCK_LOST', null],
    ['revoked', 503, 'LOCK_REVOKED', null],
    ['overdue', 503, 'LOCK_OVERDUE', null],
    ['unavailable', 503, 'LOCK_UNAVAILABLE', '1'],
    ['shutdown', 503, 'LOCK_SHUTDOWN', '1'],
    ['reentrancy', 500, 'LOCK_REENTRANCY', null],
    ['configuration', 500, 'LOCK_CONFIGURATION', null],
  ])('%s: %i %s, with Retry-After %s', async (how, status, code, retryAfter) => {
    const { url } = await serve({ controllers }, {}, undefined, platform);
    const answer = await answerOf(url, `/orders/fails/${how}`);
    expect(answer).toMatchObject({ status, retryAfter, body: { statusCode: status, code } });
    expect(answer.text).not.toContain('secret');
  });

  it('contains the key if the application wants it, except for programming mistakes', async () => {
    const { url } = await serve({ controllers }, { exceptionFilter: { exposeKey: true } }, undefined, platform);
    expect((await answerOf(url, '/orders/fails/timeout')).body.key).toBe('secret/42');
    expect((await answerOf(url, '/orders/fails/configuration')).text).not.toContain('secret');
  });

  it('hides its message from the client when a stream of events has begun', async () => {
    const { url } = await serve({ controllers }, {}, undefined, platform);
    const text = await (await fetch(`${url}/orders/stream`)).text();
    expect(text).toContain('data: first');
    expect(text).toContain('event: error');
    expect(text).not.toContain('secret');
  });
});

@Catch()
class CatchAll extends BaseExceptionFilter {
  override catch(_error: unknown, host: ArgumentsHost) {
    super.catch(new HttpException('caught by the application', 418), host);
  }
}

@Catch(LockTimeoutError)
class TeamFilter implements ExceptionFilter {
  catch(_error: LockTimeoutError, host: ArgumentsHost) {
    host.switchToHttp().getResponse().status(418).json({ message: 'caught by the application' });
  }
}

@Controller('class')
@UseFilters(TeamFilter)
class FilteredController extends OrdersController {}

@Controller('method')
class FilteredHandlerController {
  @Get('fails')
  @UseFilters(TeamFilter)
  async fail() {
    throw ERRORS['timeout']!;
  }
}

@Module({ providers: [{ provide: APP_FILTER, useClass: CatchAll }] })
class FilterModule {}

describe('a filter of the application takes precedence', () => {
  const useGlobal = (app: INestApplication) => app.useGlobalFilters(new CatchAll(app.get(HttpAdapterHost).httpAdapter));

  it.each<[string, string, { providers?: object[]; imports?: Type[] }, ((app: INestApplication) => unknown)?]>([
    ['useGlobalFilters, a catch-all', '/orders/fails/timeout', {}, useGlobal],
    [
      'APP_FILTER of the root module, a catch-all',
      '/orders/fails/timeout',
      { providers: [{ provide: APP_FILTER, useClass: CatchAll }] },
    ],
    [
      'APP_FILTER in request scope',
      '/orders/fails/timeout',
      { providers: [{ provide: APP_FILTER, useClass: CatchAll, scope: Scope.REQUEST }] },
    ],
    ['APP_FILTER of another module', '/orders/fails/timeout', { imports: [FilterModule] }],
    ['@UseFilters above the class', '/class/fails/timeout', {}],
    ['@UseFilters above the method', '/method/fails', {}],
  ])('%s', async (_how, path, { providers = [], imports = [] }, configure) => {
    const all = [OrdersController, FilteredController, FilteredHandlerController];
    const { url } = await serve({ controllers: all, imports, providers: providers as never }, {}, configure);
    const answer = await answerOf(url, path);
    expect(answer).toMatchObject({ status: 418, body: { message: 'caught by the application' } });
  });

  it('unless it passes the error to LockExceptionFilter, which can be injected', async () => {
    const configure = (app: INestApplication) => {
      useGlobal(app);
      app.useGlobalFilters(app.get(LockExceptionFilter));
    };
    const { url } = await serve({ controllers }, { exceptionFilter: false }, configure);
    expect(await answerOf(url, '/orders/fails/timeout')).toMatchObject({ status: 423, body: { code: 'LOCK_TIMEOUT' } });
    expect((await answerOf(url, '/nowhere')).status).toBe(418);
  });
});

describe('exceptionFilter: false', () => {
  it('leaves the error to Nest, which answers with its status and without its message', async () => {
    const { url } = await serve({ controllers }, { exceptionFilter: false });
    const answer = await answerOf(url, '/orders/fails/timeout');
    expect(answer).toMatchObject({ status: 423, retryAfter: null, body: { statusCode: 423, message: 'Locked' } });
    expect(answer.text).not.toContain('secret');
  });
});

describe('the log', () => {
  it.each([
    ['timeout', 'debug', 'LockTimeoutError: "secret/42" is locked by somebody else (waited 5 ms)'],
    ['follower', 'debug', 'LockNotLeaderError: this instance does not lead "secret"'],
    ['unavailable', 'warn', 'LockUnavailableError: secret-host did not answer'],
    ['lost', 'warn', 'LockLostError: the lease on "secret/42" was lost: the session on secret-host ended'],
  ] as const)('of %s: one line at %s, without a stack', async (how, level, line) => {
    const { url } = await serve({ controllers });
    const log = watchLog();
    await answerOf(url, `/orders/fails/${how}`);
    const { contexts, ...lines } = log;
    expect(lines).toEqual({ debug: [], log: [], warn: [], error: [], [level]: [[line]] });
    expect(contexts).toEqual(['LockExceptionFilter']);
  });

  it.each(['configuration', 'reentrancy'])('contains an error with its stack for a mistake such as %s', async (how) => {
    const { url } = await serve({ controllers });
    const log = watchLog();
    await answerOf(url, `/orders/fails/${how}`);
    const { name, message } = ERRORS[how]!;
    expect(log.error).toEqual([[`${name}: ${message}`, expect.stringContaining('exception-filter.spec.ts')]]);
  });
});

describe('the exceptionFilter option', () => {
  it.each([
    [true, 'LockModule: exceptionFilter must be false, or options such as { exposeKey: true }, got the boolean true'],
    [{ exposeKeys: true }, 'unknown field "exposeKeys" (known: exposeKey)'],
    [{ exposeKey: 'yes' }, 'LockModule: exceptionFilter.exposeKey must be true or false, got the string "yes"'],
  ])('refuses %j', (exceptionFilter, message) => {
    expect(() => LockModule.forRoot({ backend: memory(), exceptionFilter: exceptionFilter as never })).toThrow(message);
  });

  it('can be set for one connection only', async () => {
    const named = (name: string) => LockModule.forRoot({ name, backend: memory(), exceptionFilter: false });
    await expect(serve({ imports: [named('a'), named('b')] })).rejects.toThrow(
      'exceptionFilter is given for the connections "a", "b": it is the application\'s, so give it to one of them',
    );
    const { url } = await serve({ controllers, imports: [named('a')] });
    expect((await answerOf(url, '/orders/fails/timeout')).body.code).toBeUndefined();
  });

  it('is also an option of LockTestingModule and of forRootAsync', async () => {
    const asynchronous = LockModule.forRootAsync({
      name: 'a',
      exceptionFilter: { exposeKey: true },
      useFactory: () => ({ backend: memory() }),
    });
    const { url } = await serve({ controllers, imports: [asynchronous] });
    expect((await answerOf(url, '/orders/fails/timeout')).body.key).toBe('secret/42');
    const testing = LockTestingModule.forRoot({ name: 'a', exceptionFilter: false });
    const quiet = await serve({ controllers, imports: [testing] });
    expect((await answerOf(quiet.url, '/orders/fails/timeout')).body.code).toBeUndefined();
  });

  it('has no effect in an application without a server', async () => {
    const context = await NestFactory.createApplicationContext(LockModule.forRoot({ backend: memory() }), {
      logger: false,
    });
    expect(context.get(LockExceptionFilter)).toBeInstanceOf(LockExceptionFilter);
    await context.close();
  });
});

describe('a LockError from a middleware', () => {
  it.each(Object.keys(PLATFORMS) as Platform[])(
    'is answered with its status and Retry-After, on %s',
    async (platform) => {
      @Module({})
      class BusyModule implements NestModule {
        configure(consumer: MiddlewareConsumer): void {
          const busy = () => {
            throw new LockTimeoutError('secret/42', 5);
          };
          consumer.apply(busy).forRoutes('*path');
        }
      }
      const { url } = await serve({ imports: [BusyModule], controllers: [OrdersController] }, {}, () => {}, platform);
      const answer = await fetch(`${url}/orders/42`, { method: 'POST' });
      expect([answer.status, await answer.text()]).toEqual([423, expect.not.stringContaining('secret')]);
      expect(answer.headers.get('retry-after')).toBe('1');
    },
  );
});
