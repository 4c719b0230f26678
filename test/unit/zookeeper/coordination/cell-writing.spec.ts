import { expect, it } from 'vitest';
import { NEVER } from '../../../../lib/async/abort.js';
import { CellWriting } from '../../../../lib/zookeeper/coordination/cell.js';
import type { LockDirectory } from '../../../../lib/zookeeper/recipes/lock-directory.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import { FakeZnodes, sessionOn } from '../recipes/fake-znodes.js';

const directory: LockDirectory = { path: '/v', acl: [], parents: 'container', releaseTimeoutMs: 100 };

it('a write is not in doubt after a request that was refused as a whole', async () => {
  const znodes = new FakeZnodes();
  znodes.multi = () => Promise.reject(new KeeperError(ErrorCode.throttled));
  const place = { path: '/v/c', directory, marks: { ...directory, path: '/w' } };
  const writing = new CellWriting('c', place, { data: Buffer.from('1') });
  await expect(writing.on(sessionOn(znodes), NEVER)).rejects.toMatchObject({ code: ErrorCode.throttled });
  expect(writing.isInDoubt).toBe(false);
});
