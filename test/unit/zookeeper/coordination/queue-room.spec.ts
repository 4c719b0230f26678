import { beforeEach, describe, expect, it } from 'vitest';
import { NEVER } from '../../../../lib/async/abort.js';
import { deferred } from '../../../../lib/async/deferred.js';
import { queuePlace } from '../../../../lib/zookeeper/coordination/queue-place.js';
import { restartNumbers } from '../../../../lib/zookeeper/coordination/queue-put.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { Watch } from '../../../../lib/zookeeper/session/requests.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

const PLACE = queuePlace('/q', true, { acl: [], parents: 'container', releaseTimeoutMs: 0 });
const ENDING = 'queue-2146435073';

describe('restarting the numbers of a queue', () => {
  let names: string[];
  let removed: string[];
  let removals: number;
  let change: () => void;

  beforeEach(() => {
    [names, removed, removals] = [[], [], 0];
  });

  const session = {
    persistently: <T>(request: () => Promise<T>) => request(),
    requests: {
      watchChildren: async () => {
        const fired = deferred<'children'>();
        change = () => fired.resolve('children');
        return { names: [...names], watch: { fired: fired.promise, remove: () => void removals++ } satisfies Watch };
      },
      delete: async (path: string) => {
        if (names.length > 0) throw new KeeperError(ErrorCode.notEmpty);
        removed.push(path);
      },
    },
  } as unknown as Session;

  it('deletes an empty directory', async () => {
    expect(await restartNumbers(session, PLACE, true, NEVER)).toBe(true);
    expect(removed).toEqual(['/q']);
    expect(removals).toBe(1);
  });

  it('waits until the last item is gone, if the caller waits', async () => {
    names = [ENDING];
    expect(await restartNumbers(session, PLACE, false, NEVER)).toBe(false);
    const restarting = restartNumbers(session, PLACE, true, NEVER);
    await new Promise((resolve) => setImmediate(resolve));
    expect(removed).toEqual([]);
    names = [];
    change();
    expect(await restarting).toBe(true);
    expect(removed).toEqual(['/q']);
  });

  it('does nothing when another process has already done it', async () => {
    names = ['queue-0000000003', 'foreign'];
    expect(await restartNumbers(session, PLACE, false, NEVER)).toBe(true);
    expect(removed).toEqual([]);
  });
});
