import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { connectClient } from './support/observed-client.js';
import { createEphemeral, createPersistent, openSession } from './support/open-session.js';
import { serverHas, untilGone } from './support/outside.js';
import { EPHEMERAL, openPlain, plainly } from './support/plain-client.js';

const target = inject('zookeeper');
const SESSION_MS = 1_000;
// A heartbeat may be late on a busy machine, and the session has to be kept.
const KEPT_SESSION_MS = 2_000;
// Far less than a third of the session timeout, after which the plain driver would send a ping.
const EVENT_EVERY_MS = 120;
const ZNODES = 100;

/** Znodes to be watched, and a function that deletes them one after the other. */
async function manyNodes() {
  const { client } = await connectClient(target);
  const base = freshBasePath();
  await createPersistent(client, base);
  const paths = Array.from({ length: ZNODES }, (_, index) => `${base}/${index}`);
  await Promise.all(paths.map((path) => createPersistent(client, path)));
  const deleteOneByOne = () => {
    const left = [...paths];
    const timer = setInterval(() => {
      const path = left.shift();
      if (path === undefined) clearInterval(timer);
      else void client.delete(path).catch(() => {});
    }, EVENT_EVERY_MS);
    onTestFinished(() => clearInterval(timer));
  };
  return { base, paths, deleteOneByOne };
}

describe('the plain driver, when it only ever receives', () => {
  it('sends nothing and is expired by a server whose messages it keeps getting', async () => {
    const { base, paths, deleteOneByOne } = await manyNodes();
    const plain = await openPlain(target, { sessionTimeout: SESSION_MS });
    const own = `${base}-own`;
    await plainly<string>((done) => plain.create(own, Buffer.alloc(0), EPHEMERAL, done));
    let events = 0;
    await Promise.all(paths.map((path) => plainly<Buffer>((done) => plain.getData(path, () => void events++, done))));
    deleteOneByOne();

    await untilGone(target, own);

    expect(events).toBeGreaterThan(5);
    expect(events).toBeLessThan(ZNODES);
  });
});

describe('a session that only ever receives', () => {
  it('is kept alive', async () => {
    const { base, paths, deleteOneByOne } = await manyNodes();
    const { session } = await openSession(target, KEPT_SESSION_MS);
    const own = `${base}-own`;
    const { czxid } = await createEphemeral(session.requests, own);
    session.track({ path: own, czxid, sharesItsName: true, foundGone: () => {} });
    const watches = await Promise.all(paths.map((path) => session.requests.watch(path)));
    deleteOneByOne();

    // Six session timeouts.
    await Promise.all(watches.map(({ fired }) => fired));

    expect(session.isCurrent).toBe(true);
    expect(session.signal.aborted).toBe(false);
    expect(await serverHas(target, own)).toBe(true);
  });
});
