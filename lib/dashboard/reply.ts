import type { HttpAdapterHost } from '@nestjs/core';
import { etagOf } from './page-files.js';
import type { RequestHeaders } from './cross-site.js';

/** A request, as far as the page reads it. Both HTTP platforms have these fields. */
export interface PageRequest {
  readonly method: string;
  readonly url: string;
  /** The URL as it came in, on platforms that rewrite `url`. */
  readonly originalUrl?: string;
  readonly headers: RequestHeaders;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** An answer before it is written. */
export interface Answer {
  readonly text: string;
  readonly type: string;
  readonly status?: number;
  /** Whether a browser may keep it. Data is never kept. */
  readonly cache?: 'no-store' | 'no-cache';
  readonly etag?: string;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Content-Security-Policy', POLICY],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['X-Robots-Tag', 'noindex'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

/** The header with this process's clock: ages on the page do not depend on the browser's. */
const NOW = 'X-Locks-Now';

/**
 * Writes an answer through the HTTP adapter. A value that a handler returns would be changed by the interceptors of the
 * application, and text in it refused by Fastify.
 */
export function writeAnswer(
  host: HttpAdapterHost,
  { headers }: PageRequest,
  response: unknown,
  { text, type, status = 200, cache = 'no-store', etag }: Answer,
): void {
  const { httpAdapter } = host;
  for (const [name, value] of HEADERS) httpAdapter.setHeader(response, name, value);
  httpAdapter.setHeader(response, 'Cache-Control', cache);
  httpAdapter.setHeader(response, NOW, String(Date.now()));
  if (etag !== undefined) httpAdapter.setHeader(response, 'ETag', etag);
  if (etag !== undefined && headers['if-none-match'] === etag) return void httpAdapter.reply(response, undefined, 304);
  httpAdapter.setHeader(response, 'Content-Type', type);
  httpAdapter.reply(response, text, status);
}

/** Returns a JSON answer with its `ETag`. */
export function json(value: unknown, status = 200): Answer {
  const text = JSON.stringify(value);
  return { text, type: 'application/json; charset=utf-8', status, ...(status === 200 && { etag: etagOf(text) }) };
}
