import { STATUS_CODES } from 'node:http';
import { Catch, Inject, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { check } from '../contract/check.js';
import { LockError } from '../contract/errors.js';
import { isProgrammingError, publicErrorOf } from './public-error.js';
import type { LockExceptionFilterOptions, PublicLockError } from './public-error.js';

/** The token of the application's `LockExceptionFilterOptions`. */
export const FILTER_OPTIONS = Symbol('LOCK_EXCEPTION_FILTER_OPTIONS');

const RETRY_AFTER_SECONDS = '1';

const logger = new Logger('LockExceptionFilter');

/**
 * Answers a `LockError` to HTTP, RPC, WebSocket and GraphQL clients: with its status, its `code`, and a message that
 * names neither keys nor hosts. `LockModule` registers it below all filters of the application, so that those take
 * precedence.
 *
 * Nest does not apply global filters in two places. There, write `@UseFilters(LockExceptionFilter)` above the class:
 * - gateways;
 * - controllers of a microservice that `connectMicroservice` starts without `inheritAppConfig: true`.
 */
@Catch(LockError)
export class LockExceptionFilter implements ExceptionFilter<LockError> {
  // No #private members here: Nest may be configured to put its providers behind a Proxy, which has none.
  constructor(
    @Inject(HttpAdapterHost) private readonly adapterHost: HttpAdapterHost,
    @Inject(FILTER_OPTIONS) private readonly options: LockExceptionFilterOptions,
  ) {
    check(
      typeof adapterHost === 'object' && typeof options === 'object',
      'LockExceptionFilter',
      adapterHost,
      'made by Nest: write @UseFilters(LockExceptionFilter), or app.useGlobalFilters(app.get(LockExceptionFilter))',
    );
  }

  /** @throws the error itself when the caller is code of this process, which handles it */
  catch(error: LockError, host: ArgumentsHost): Observable<never> | void {
    log(error);
    const answer = publicErrorOf(error, this.options);
    switch (host.getType<string>()) {
      case 'http':
        if (!isResponse(host.getArgByIndex(1))) throw error;
        return this.reply(host.switchToHttp().getResponse(), answer);
      case 'rpc':
        return throwError(() => ({ status: 'error', ...answer }));
      case 'ws':
        return emit(host, answer);
      case 'graphql':
        throw graphqlError(answer);
      default:
        throw error;
    }
  }

  private reply(response: unknown, answer: PublicLockError): void {
    const { httpAdapter } = this.adapterHost;
    if (httpAdapter.isHeadersSent(response) || isSent(response)) {
      httpAdapter.end(response);
      return;
    }
    if (answer.retryable) this.setRetryAfter(response);
    httpAdapter.reply(response, { ...answer, error: STATUS_CODES[answer.statusCode] }, answer.statusCode);
  }

  private setRetryAfter(response: unknown): void {
    // A middleware on Fastify has Node's own response. The adapter of some versions cannot set a header on it.
    if (hasMethod(response, 'setHeader')) response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
    else this.adapterHost.httpAdapter.setHeader(response, 'Retry-After', RETRY_AFTER_SECONDS);
  }
}

/** Whether the headers of Node's own response have been sent. A middleware on Fastify has such a response. */
function isSent(response: unknown): boolean {
  return typeof response === 'object' && response !== null && Reflect.get(response, 'headersSent') === true;
}

/**
 * Logs the error. A key that is taken is normal, so it is logged for debugging only. A stack helps only with
 * programming errors.
 */
function log(error: LockError): void {
  const line = `${error.name}: ${error.message}`;
  if (isProgrammingError(error)) logger.error(line, error.stack);
  else if (error.code === 'LOCK_TIMEOUT' || error.code === 'LOCK_NOT_LEADER') logger.debug(line);
  else logger.warn(line);
}

/**
 * Whether the value is a response. Packages that call handlers directly may report `http` for calls without a response.
 */
function isResponse(value: unknown): boolean {
  return hasMethod(value, 'end') || hasMethod(value, 'send');
}

function emit(host: ArgumentsHost, answer: PublicLockError): void {
  const ws = host.switchToWs();
  const payload = { status: 'error', ...answer, cause: { pattern: ws.getPattern(), data: ws.getData<unknown>() } };
  const client = ws.getClient<unknown>();
  // A plain WebSocket also has an `emit()`, which does not send.
  if (hasMethod(client, 'send') && 'readyState' in client) {
    client.send(JSON.stringify({ event: 'exception', data: payload }));
  } else if (hasMethod(client, 'emit')) client.emit('exception', payload);
}

/** Returns an error whose `extensions` GraphQL servers copy into their response. */
function graphqlError({ message, ...extensions }: PublicLockError): Error {
  return Object.assign(new Error(message), { extensions });
}

function hasMethod<K extends string>(value: unknown, name: K): value is Record<K, (...args: unknown[]) => unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function';
}
