import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';
import { LockProgram } from './support/lock-program.js';

const connectString = inject('zookeeper');
const WAIT_MS = 20_000;
const NOT_LET_IN_MS = 400;

async function shared() {
  const path = freshBasePath();
  const service = await openService({ connectString, basePath: '/' });
  const client = await openClient(connectString);
  const java = new LockProgram('java', connectString, 10_000);
  const [read, write] = (['read', 'write'] as const).map((kind) => ({
    acquire: (thread: string, waitMs = WAIT_MS) => java.acquire({ path, kind }, waitMs, { thread }),
    release: (thread: string) => java.release({ path, kind }, { thread }),
  })) as [Side, Side];
  return {
    path,
    client,
    ours: service.readWriteLock(path),
    curators: { read, write },
    [Symbol.asyncDispose]: () => java[Symbol.asyncDispose](),
  };
}

interface Side {
  acquire(thread: string, waitMs?: number): Promise<number | null>;
  release(thread: string): Promise<number>;
}

describe('a read-write lock shared with Curator', () => {
  it('admits readers of both sides together, and their writers one at a time', async () => {
    await using scene = await shared();
    const { ours, curators, client, path } = scene;
    const reader = await ours.read.acquire();
    expect(await curators.read.acquire('a')).not.toBeNull();
    const entered: string[] = [];
    const theirs = curators.write.acquire('b').then(() => entered.push('theirs'));
    await untilContenders(client, path, 3);
    const writing = ours.write.acquire().then((lease) => (entered.push('ours'), lease));
    await untilContenders(client, path, 4);
    // Behind waiting writers of both sides.
    expect(await ours.read.tryAcquire()).toBeNull();
    expect(await curators.read.acquire('c', NOT_LET_IN_MS)).toBeNull();

    await reader.release();
    expect(entered).toEqual([]);
    await curators.read.release('a');
    await theirs;
    expect(entered).toEqual(['theirs']);
    await curators.write.release('b');
    await (await writing).release();
    expect(await untilContenders(client, path, 0)).toEqual([]);
  });

  it('is readable by Curator, but not writable, after our writer downgrades', async () => {
    await using scene = await shared();
    const { ours, curators, client, path } = scene;
    let reader!: Promise<number | null>;
    let writer!: Promise<number | null>;
    const reading = await ours.write.using(async () => {
      reader = curators.read.acquire('a');
      await untilContenders(client, path, 2);
      writer = curators.write.acquire('b');
      await untilContenders(client, path, 3);
      return ours.read.acquire();
    });
    expect(await reader).not.toBeNull();
    await curators.read.release('a');
    await untilContenders(client, path, 2);
    expect(await curators.write.acquire('c', NOT_LET_IN_MS)).toBeNull();
    const heldUntil = Number(process.hrtime.bigint());
    await reading.release();
    expect(await writer).toBeGreaterThan(heldUntil);
    await curators.write.release('b');
  });

  it('is readable by our readers after Curator’s writer downgrades', async () => {
    await using scene = await shared();
    const { ours, curators, client, path } = scene;
    await curators.write.acquire('a');
    await curators.read.acquire('a');
    expect(await ours.read.tryAcquire()).toBeNull();
    await curators.write.release('a');
    const reader = await ours.read.acquire();
    expect(await ours.write.tryAcquire()).toBeNull();
    await reader.release();
    expect(await ours.write.tryAcquire()).toBeNull();
    const names = await contendersAt(client, path);
    expect(names).toEqual([expect.stringContaining('__READ__')]);
    await curators.read.release('a');
    await (await ours.write.acquire()).release();
  });
});
