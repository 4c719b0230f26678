import { Socket } from 'node:net';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { connectClient } from './support/observed-client.js';
import { createPersistent } from './support/open-session.js';

const connectString = inject('zookeeper');

/** Returns a counter of the writes to sockets, of one chunk or several. */
function countWrites(): () => number {
  const prototype = Socket.prototype as Required<Pick<Socket, '_write' | '_writev'>>;
  const spies = [vi.spyOn(prototype, '_write'), vi.spyOn(prototype, '_writev')];
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  return () => spies.reduce((calls, spy) => calls + spy.mock.calls.length, 0);
}

describe('the requests that a client gets in one turn', () => {
  it('leave in one write, also when a settled promise adds requests', async () => {
    const { client } = await connectClient(connectString);
    const path = freshBasePath();
    await createPersistent(client, path);
    const writes = countWrites();
    const requests: Promise<unknown>[] = [];
    for (let number = 0; number < 20; number++) {
      requests.push(createPersistent(client, `${path}/${number}`), client.read(path), client.sync(path));
    }
    requests.push(Promise.resolve().then(() => client.read(path)));
    await new Promise(setImmediate);
    expect(writes()).toBe(1);
    await Promise.all(requests);
    expect(writes()).toBe(1);
  });

  it('share one list per path, behind the creates of the turn', async () => {
    const { client } = await connectClient(connectString);
    const path = freshBasePath();
    await createPersistent(client, path);
    const lists = [client.children(path), client.children(path)];
    const created = createPersistent(client, `${path}/x`);
    const [one, other] = await Promise.all(lists);
    await created;
    expect(one).toEqual(['x']);
    expect(other).toBe(one);
    expect(await client.children(path)).not.toBe(one);
  });
});
