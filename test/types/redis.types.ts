/** The options of redis() that the compiler must accept and refuse. Nothing here runs; `tsc` is the test. */
import { Redis } from 'ioredis';
import { redis } from '../../lib/redis/index.js';

redis();
redis({ url: process.env['REDIS_URL'], sessionTimeoutMs: undefined });
redis({ connection: new Redis({ lazyConnect: true }) });
redis({ sentinels: { name: 'mymaster', sentinels: [{ host: 'a' }, { host: 'b', port: 26_379 }] }, tls: true });

// @ts-expect-error: a client, not its address
redis({ connection: 'redis://localhost' });

// @ts-expect-error: the list of sentinels needs the name of the primary
redis({ sentinels: [{ host: 'a' }] });
