import { describe, expect, it, vi } from 'vitest';
import { RefusedError } from '../../../lib/etcd/client/etcd-error.js';
import type { EtcdLink } from '../../../lib/etcd/client/etcd-link.js';
import { checkVersion, warningsOf } from '../../../lib/etcd/session/server-check.js';

const statusOf = (version: string, revision = 5) => ({ version, revision, size: 0, term: 1 });
const compacted = new RefusedError('OUT_OF_RANGE', 'mvcc: required revision has been compacted');

/** A link to a server that has all revisions, or that refuses those of long ago. */
function linkTo(oldRevisions: 'kept' | 'compacted') {
  const range = vi.fn(() => (oldRevisions === 'kept' ? Promise.resolve({}) : Promise.reject(compacted)));
  return { range, link: { range } as unknown as EtcdLink };
}

describe('the check of a server', () => {
  it.each(['3.3.25', '2.3.8'])('refuses version %s', (version) => {
    expect(() => checkVersion(statusOf(version))).toThrow(/needs etcd 3\.4 or later/);
  });

  it.each(['3.4.0', '3.6.5', '4.0.0'])('accepts version %s', (version) => {
    expect(() => checkVersion(statusOf(version))).not.toThrow();
  });

  it.each([
    ['3.4.23', '3.4.31'],
    ['3.5.12', '3.5.13'],
  ])('warns of version %s, whose former leaders end living leases', async (version, sound) => {
    const { link } = linkTo('compacted');
    expect(await warningsOf(link, statusOf(version), 'k')).toEqual([expect.stringContaining(sound)]);
    expect(await warningsOf(link, statusOf(sound), 'k')).toEqual([]);
  });

  it('warns of a server that keeps its whole history, and asks a young one nothing', async () => {
    const { link, range } = linkTo('kept');
    expect(await warningsOf(link, statusOf('3.6.5', 100_000), 'k')).toEqual([]);
    expect(range).not.toHaveBeenCalled();
    const warnings = await warningsOf(link, statusOf('3.6.5', 250_000), 'k');
    expect(warnings).toEqual([expect.stringContaining('--auto-compaction-retention=5m')]);
    expect(range).toHaveBeenCalledWith(expect.objectContaining({ revision: 150_000 }));
  });

  it('does not warn of one that has compacted it', async () => {
    const { link } = linkTo('compacted');
    expect(await warningsOf(link, statusOf('3.6.5', 250_000), 'k')).toEqual([]);
  });
});
