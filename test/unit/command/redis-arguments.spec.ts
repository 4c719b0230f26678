import { describe, expect, it } from 'vitest';
import { parseClusterArguments } from '../../../lib/command/cluster.options.js';

const parse = (line: string, env = {}) => parseClusterArguments(line.split(' '), env).options;

describe('the options of commands for Redis', () => {
  it('are the shards, and the nodes of a cluster', () => {
    expect(parse('--backend redis --shards 6 --cluster redis-1:7000,[::1]:7001,redis-3')).toMatchObject({
      shards: 6,
      cluster: [{ host: 'redis-1', port: 7_000 }, { host: '::1', port: 7_001 }, { host: 'redis-3' }],
      sentinels: undefined,
    });
  });

  it('are the sentinels, and the name that they have for the server', () => {
    expect(parse('--backend redis --sentinels one:1,two --sentinel-name shop')).toMatchObject({
      shards: undefined,
      cluster: undefined,
      sentinels: { name: 'shop', sentinels: [{ host: 'one', port: 1 }, { host: 'two' }] },
    });
  });

  it('need a user for a password only where the URL that is used has none', () => {
    const env = { REDIS_URL: 'redis://me@localhost', REDIS_USERNAME: 'shop' };
    expect(parse('--backend redis', env).user).toBe('shop');
    expect(() => parse('--backend redis --cluster a:1', env)).toThrow(
      'REDIS_USERNAME is set, and REDIS_PASSWORD is not',
    );
  });

  it.each([
    ['--cluster a:1', '--cluster needs --backend redis'],
    ['--backend etcd --shards 2', '--shards needs --backend redis'],
    ['--sentinel-name a', '--sentinel-name needs --backend redis'],
    ['--backend redis --connect redis://a --cluster a:1', 'give one of --connect and --cluster'],
    ['--backend redis --cluster a:1 --sentinels a:1 --sentinel-name a', 'give one of --cluster and --sentinels'],
    ['--backend redis --sentinels a:1', '--sentinels needs --sentinel-name'],
    ['--backend redis --sentinel-name a', '--sentinel-name needs --sentinels'],
    ['--backend redis --shards 0', '--shards must be a whole number from 1 to 128'],
    ['--backend redis --shards 129', '--shards must be a whole number from 1 to 128'],
    ['--backend redis --shards two', '--shards must be a whole number from 1 to 128'],
    ['--backend redis --cluster a:70000', '--cluster must be a list such as redis-1:7000,redis-2:7000'],
    ['--backend redis --cluster a:1,', '--cluster must be a list'],
    ['--backend redis --cluster redis://a:1', '--cluster must be a list'],
    ['--backend redis --sentinels ::1 --sentinel-name a', '--sentinels must be a list'],
  ])('are refused: %s', (line, message) => {
    expect(() => parse(line)).toThrow(message);
  });

  it.each([
    '--cluster=redis://me:word@a:1',
    '--cluster redis://me:word@a:1',
    '--sentinels me:word@a:1 --sentinel-name a',
  ])('never repeat a password: %s', (line) => {
    expect(() => parse(`--backend redis ${line}`)).toThrow(/^(?!.*word@).*(credentials are not taken|must be a list)/);
  });
});
