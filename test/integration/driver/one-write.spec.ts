import { Socket } from 'node:net';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { connectClient } from './support/observed-client.js';
import { createPersistent } from './support/open-session.js';

const connectString = inject('zookeeper');

/** How often a socket was handed something to send, one piece or several at once. */
function countWrites(): () => number {
  const prototype = Socket.prototype as Required<Pick<Socket, '_write' | '_writev'>>;
  const spies = [vi.spyOn(prototype, '_write'), vi.spyOn(prototype, '_writev')];
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
  return () => spies.reduce((calls, spy) => calls + spy.mock.calls.length, 0);
}

describe('what a client is asked for in one turn', () => {
  it('leaves in one write, also when a promise that is settled asks for more', async () => {
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

  it('is one list for all who ask for the same, behind the creates of the turn', async () => {
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
