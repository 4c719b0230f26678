import { describe, expect, it, vi } from 'vitest';
import { DIRECTORY } from './fake-wait-queue.js';
import { acquireOver, startLine } from './waiters.js';

const OTHER = '_c_00000000-0000-0000-0000-000000000000';

/** A lease in the given mode, with listeners for the demand. */
async function held(mode: Parameters<typeof acquireOver>[1]) {
  const { line, clients } = startLine(1);
  const client = clients[0] ?? expect.unreachable();
  const acquiring = acquireOver(client, mode);
  await client.passAll();
  const lease = (await acquiring) ?? expect.unreachable();
  const onDemand = vi.fn<() => void>();
  const onNone = vi.fn<() => void>();
  const watch = async () => {
    const dispose = lease.demand?.watch(onDemand, onNone) ?? expect.unreachable();
    await client.passAll();
    return dispose;
  };
  return { line, client, lease, onDemand, onNone, watch };
}

describe('the demand for a lease', () => {
  it('is none while its holder is alone, and is reported with the first contender', async () => {
    const { line, client, onDemand, onNone, watch } = await held('exclusive');
    await watch();
    expect(onDemand).not.toHaveBeenCalled();
    expect(onNone).toHaveBeenCalledOnce();
    line.enter(`${OTHER}-lock-`);
    await client.passAll();
    expect(onDemand).toHaveBeenCalledOnce();
    line.enter(`${OTHER}-lock-`);
    await client.passAll();
    expect(onDemand).toHaveBeenCalledOnce();
  });

  it('is reported at once when a contender is already waiting', async () => {
    const { line, onDemand, onNone, watch } = await held('write');
    line.enter(`${OTHER}-__READ__`);
    await watch();
    expect(onDemand).toHaveBeenCalledOnce();
    expect(onNone).not.toHaveBeenCalled();
  });

  it('is not raised by a reader behind a reader, but by the writer behind both', async () => {
    const { line, client, onDemand, watch } = await held('read');
    line.enter(`${OTHER}-__READ__`);
    await watch();
    line.enter(`${OTHER}-__READ__`);
    await client.passAll();
    expect(onDemand).not.toHaveBeenCalled();
    line.enter(`${OTHER}-__WRIT__`);
    await vi.waitFor(async () => {
      await client.passAll();
      expect(onDemand).toHaveBeenCalledOnce();
    }, 30_000);
  });

  it('is not raised by contenders ahead of a reader, nor by other znodes', async () => {
    const { line, onDemand, watch } = await held('read');
    line.make('config');
    line.make(`${OTHER}-__READ__-000000005`);
    await watch();
    expect(onDemand).not.toHaveBeenCalled();
  });

  it('is assumed when the connection is lost', async () => {
    const { client, onDemand, onNone, lease } = await held('exclusive');
    client.disconnect();
    lease.demand?.watch(onDemand, onNone);
    await new Promise(setImmediate);
    expect(onDemand).toHaveBeenCalledOnce();
  });

  it('is not reported any more after the listener was removed', async () => {
    const { line, client, lease, onDemand, watch } = await held('exclusive');
    const dispose = await watch();
    dispose();
    dispose();
    line.enter(`${OTHER}-lock-`);
    await client.passAll();
    expect(onDemand).not.toHaveBeenCalled();
    const releasing = lease.release();
    await client.passAll();
    await releasing;
    expect([...client.watched.children, ...client.watched.data]).toEqual([]);
  });

  it('leaves no watch when the lease was released', async () => {
    const { line, client, lease, watch } = await held('exclusive');
    const dispose = await watch();
    expect([...client.watched.children]).toEqual([DIRECTORY]);
    dispose();
    const releasing = lease.release();
    await client.passAll();
    await releasing;
    expect([line.names, [...client.watched.children]]).toEqual([[], []]);
  });
});
