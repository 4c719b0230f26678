import assert from 'node:assert/strict';
import { checksOf } from './contract-check.js';

const MODES = ['exclusive', 'read', 'write'] as const;
const TURNS = 30;
const NO_KEYS = ['', undefined, 42, 'a/', 'a//b', '/', '.', 'a/../b', '/a/..', 'a\nb', 'a\ud83d'];

export const GRANTING = checksOf('granting', {
  'is connected when connect() has resolved': async ({ one, other }) => {
    assert.equal(one.state, 'connected');
    assert.equal(other.state, 'connected');
    assert.equal(typeof one.name, 'string');
  },

  'has one identity for a key, the same for all clients, and another for another key': async ({ one, other, key }) => {
    assert.equal(one.identify(key), one.identify(key));
    assert.equal(one.identify(key), other.identify(key));
    assert.notEqual(one.identify(key), one.identify(`${key}2`));
  },

  'refuses what is no key': async ({ one }) => {
    for (const wrong of NO_KEYS) assert.throws(() => one.identify(wrong as string), { code: 'LOCK_CONFIGURATION' });
  },

  'grants a free key as it was asked for': async (stage) => {
    for (const mode of MODES) {
      const before = Date.now();
      const lease = await stage.hold(stage.one, { mode });
      assert.equal(lease.key, stage.key);
      assert.equal(lease.mode, mode);
      assert.equal(lease.state, 'held');
      assert.equal(lease.isHeld(), true);
      assert.equal(lease.signal.aborted, false);
      assert.equal(typeof lease.fencingToken, 'bigint');
      assert.ok(lease.acquiredAt.getTime() >= before && lease.acquiredAt.getTime() <= Date.now());
      await stage.within(lease.release(), 'release()');
    }
  },

  'grants a key to one at a time': async (stage) => {
    const lease = await stage.hold(stage.one);
    assert.equal(await stage.tryFor(stage.other), null, 'another client got a key that is held');
    assert.equal(await stage.tryFor(stage.one), null, 'the same client got a key twice');
    await stage.within(lease.release(), 'release()');
    assert.ok(await stage.tryFor(stage.other), 'a key that was given back is not granted');
  },

  'grants it to one of many requests at once that do not wait': async (stage) => {
    const asked = Array.from({ length: 10 }, (_, turn) => stage.tryFor(stage.client(turn)));
    const leases = (await Promise.all(asked)).filter((lease) => lease !== null);
    assert.equal(leases.length, 1);
  },

  'does not keep other keys waiting': async (stage) => {
    await stage.hold(stage.one);
    await stage.hold(stage.one, { key: `${stage.key}/below` });
    await stage.hold(stage.other, { key: `${stage.key}2` });
  },

  'lets no second holder in while one works': async (stage) => {
    let count = 0;
    const add = async (turn: number) => {
      const lease = await stage.hold(stage.client(turn));
      const seen = count;
      await new Promise(setImmediate);
      count = seen + 1;
      await stage.within(lease.release(), 'release()');
    };
    await Promise.all(Array.from({ length: TURNS }, (_, turn) => add(turn)));
    assert.equal(count, TURNS);
  },

  'grants without a line to any request while the key is free': async (stage) => {
    const lease = await stage.tryFor(stage.one, { line: 'none' });
    assert.ok(lease);
    assert.equal(await stage.tryFor(stage.other, { line: 'none' }), null);
    assert.equal(await stage.tryFor(stage.other), null, 'a waiting request got a key that is held without a line');
    await stage.within(lease.release(), 'release()');
    await stage.hold(stage.other);
    assert.equal(await stage.tryFor(stage.one, { line: 'none' }), null);
  },
});
