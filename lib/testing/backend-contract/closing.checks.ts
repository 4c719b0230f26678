import assert from 'node:assert/strict';
import { LockError } from '../../contract/errors.js';
import { checksOf } from './contract-check.js';

const isShutdown = (error: unknown): boolean => error instanceof LockError && error.code === 'LOCK_SHUTDOWN';

export const CLOSING = checksOf('closing', {
  'ends every lease': async (stage) => {
    const lease = await stage.hold(stage.one);
    await stage.within(stage.one.close(), 'close()');
    assert.equal(lease.state, 'lost');
    assert.equal(lease.isHeld(), false);
    assert.ok(lease.signal.reason instanceof LockError);
    await stage.within(lease.release(), 'release() after close()');
  },

  'rejects waiting requests, and takes no more': async (stage) => {
    await stage.hold(stage.one);
    const waiting = stage.ask(stage.one);
    await stage.standing(2);
    await stage.within(stage.one.close(), 'close()');
    await assert.rejects(stage.within(waiting, 'the end of a wait'), isShutdown);
    await assert.rejects(stage.within(stage.ask(stage.one), 'a refusal'), isShutdown);
    await assert.rejects(stage.tryFor(stage.one), isShutdown);
  },

  'leaves nothing behind that others would wait for': async (stage) => {
    if (stage.isLocal) return;
    await stage.hold(stage.one);
    const waiting = stage.ask(stage.one);
    await stage.standing(2);
    await stage.within(stage.one.close(), 'close()');
    await assert.rejects(stage.within(waiting, 'the end of a wait'), isShutdown);
    await stage.hold(stage.other);
  },

  'may be done twice, and never rejects': async (stage) => {
    await stage.hold(stage.one);
    await stage.within(Promise.all([stage.one.close(), stage.one.close()]), 'close() twice');
    await stage.within(stage.one.close(), 'close() again');
  },
});
