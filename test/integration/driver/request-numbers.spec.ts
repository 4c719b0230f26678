import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { openService } from '../../support/services.js';
import { driverInstances } from './support/driver-instances.js';
import { connectClient } from './support/observed-client.js';
import { openFakeServer } from './support/fake-server.js';
import { openPlain, plainly } from './support/plain-client.js';

const target = inject('zookeeper');

describe('the plain driver, when its request numbers are used up', () => {
  it('throws at every later request', async () => {
    const plain = await openPlain(target);
    plain.connectionManager.xid = 2 ** 31 - 2;
    const read = () => plainly<Buffer>((done) => plain.getData('/', done));
    await read();
    await read();
    for (let time = 0; time < 3; time++) await expect(read()).rejects.toThrow(/out of range/);
    expect(plain.getState().name).toBe('SYNC_CONNECTED');
  });
});

describe('a client whose request numbers are used up', () => {
  it('starts again at 1, with many pending requests', async () => {
    const managers = driverInstances();
    const { client, told } = await connectClient(target);
    managers[0]!.xid = 2 ** 30 - 100;
    const replies = await Promise.all(Array.from({ length: 500 }, () => client.read('/')));
    expect(replies).toHaveLength(500);
    expect(managers[0]!.xid).toBe(401);
    expect(told).toEqual(['connected']);
  });

  it('sends only positive numbers, and none twice at a time', async () => {
    const server = await openFakeServer({});
    const managers = driverInstances();
    const { client } = await connectClient(server.connectString);
    expect(managers[0]!.xid).toBe(1);
    managers[0]!.xid = 2 ** 30 - 5;
    await Promise.all(Array.from({ length: 50 }, () => client.sync('/z')));
    const numbers = server.requests.map(({ xid }) => xid);
    expect(new Set(numbers).size).toBe(50);
    expect(Math.min(...numbers)).toBe(1);
    expect(Math.max(...numbers)).toBe(2 ** 30 - 1);
  });

  it('keeps its leases and continues to acquire', async () => {
    const managers = driverInstances();
    const service = await openService({ connectString: target, basePath: freshBasePath() });
    const lease = await service.acquire('held');
    managers[0]!.xid = 2 ** 30 - 20;
    for (let round = 0; round < 20; round++) await service.using(`key-${round}`, () => {});
    expect(managers[0]!.xid).toBeLessThan(1_000);
    expect([lease.state, lease.isHeld()]).toEqual(['held', true]);
  });
});
