import { redis } from '../../lib/redis/index.js';
import { RedisServer } from '../../lib/testing/index.js';
import { nestApplicationOn } from '../support/nest-application.js';

let server: RedisServer;

nestApplicationOn({
  name: 'Redis',
  start: async () => {
    server = await RedisServer.start({ settings: { appendonly: 'yes', appendfsync: 'always' } });
  },
  stop: () => server.stop(),
  left: async (basePath) => {
    const kinds = ['h', 'w'].map((kind) => server.ask('KEYS', `{${basePath}}:${kind}:*`));
    const answers = [...(await Promise.all(kinds)), await server.ask('ZCARD', `{${basePath}}:s`)];
    return answers.reduce((sum, answer) => sum + Number(/^[*:](\d+)\r\n/.exec(answer)?.[1]), 0);
  },
  backend: (basePath) => redis({ url: server.url, basePath, restartDelayMs: 0, sessionTimeoutMs: 2_000 }),
});
