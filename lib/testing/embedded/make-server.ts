import { Database } from './database/database.js';
import type { Leadership } from './database/leadership.js';
import type { ResolvedEmbeddedOptions } from './embedded.options.js';
import { EmbeddedServer } from './server/embedded-server.js';
import { ManualClock } from './sessions/manual-clock.js';
import { RunningClock } from './sessions/running-clock.js';

export function databaseOf(options: ResolvedEmbeddedOptions): Database {
  return new Database(options.clock === 'manual' ? new ManualClock() : new RunningClock(), options);
}

export function serverOf(
  database: Database,
  options: ResolvedEmbeddedOptions & { readonly longestSessionMs?: number | undefined },
  join?: (server: EmbeddedServer) => Leadership,
): EmbeddedServer {
  const { host, maxBufferBytes, log, extendedTypes, superDigest, longestSessionMs } = options;
  const rules = { extendedTypes, superDigest };
  return new EmbeddedServer(database, { host, maxBufferBytes, log, rules, longestSessionMs }, join);
}
