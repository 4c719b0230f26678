import { describe, expect, it, vi } from 'vitest';
import { DIRECTORY } from './fake-line.js';
import { acquireOver, startLine } from './waiters.js';

const OTHER = '_c_00000000-0000-0000-0000-000000000000';

/** A lease in that mode, and whether somebody is known to wait for it. */
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

describe('who waits for a lease', () => {
  it('is nobody while its holder is alone, and then whoever comes', async () => {
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

  it('is known at once when somebody has come before', async () => {
    const { line, onDemand, onNone, watch } = await held('write');
    line.enter(`${OTHER}-__READ__`);
    await watch();
    expect(onDemand).toHaveBeenCalledOnce();
    expect(onNone).not.toHaveBeenCalled();
  });

  it('is no reader behind a reader, but the writer behind both', async () => {
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

  it('is nobody that is before a reader, and no znode that is no contender', async () => {
    const { line, onDemand, watch } = await held('read');
    line.make('config');
    line.make(`${OTHER}-__READ__-000000005`);
    await watch();
    expect(onDemand).not.toHaveBeenCalled();
  });

  it('may be anybody when the connection is lost', async () => {
    const { client, onDemand, onNone, lease } = await held('exclusive');
    client.disconnect();
    lease.demand?.watch(onDemand, onNone);
    await new Promise(setImmediate);
    expect(onDemand).toHaveBeenCalledOnce();
  });

  it('is of no interest any more to one who has let go', async () => {
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

  it('leaves no watch when the lease has been given back', async () => {
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
