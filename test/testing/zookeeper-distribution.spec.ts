import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { findZooKeeperDistribution } from '../../lib/testing/zookeeper-distribution.js';

const DEBIAN_JAR = '/usr/share/java/zookeeper.jar';

describe('findZooKeeperDistribution', () => {
  let home: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'zookeeper-home-'));
  });

  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(home, { recursive: true });
  });

  it('refuses a ZOOKEEPER_HOME without ZooKeeper in it, and says how to fix it', () => {
    expect(() => findZooKeeperDistribution({ ZOOKEEPER_HOME: home })).toThrow(
      /no zookeeper-\*\.jar[^]*ZOOKEEPER_CONNECT[^]*apt-get install zookeeper[^]*Docker/,
    );
  });

  it('refuses a ZOOKEEPER_HOME when it finds no java', () => {
    mkdirSync(join(home, 'lib'));
    symlinkSync(DEBIAN_JAR, join(home, 'lib', 'zookeeper-3.8.0.jar'));
    vi.stubEnv('PATH', home);
    expect(() => findZooKeeperDistribution({ ZOOKEEPER_HOME: home })).toThrow(/no java on the PATH/);
  });

  it('says what to do when no ZooKeeper is found', () => {
    vi.stubEnv('PATH', home);
    expect(() => findZooKeeperDistribution({})).toThrow(/No ZooKeeper found to run[^]*ZOOKEEPER_HOME/);
  });

  it.skipIf(!existsSync(DEBIAN_JAR))('runs the ZooKeeper of ZOOKEEPER_HOME', async () => {
    mkdirSync(join(home, 'lib'));
    symlinkSync(DEBIAN_JAR, join(home, 'lib', 'zookeeper-3.8.0.jar'));
    vi.stubEnv('ZOOKEEPER_HOME', home);
    await using server = await ZooKeeperServer.start();
    expect(findZooKeeperDistribution().name).toBe(home);
    expect(await server.ask('ruok')).toBe('imok');
  });
});
