import { beforeEach, describe, expect, it } from 'vitest';
import { createNode } from '../../../../lib/zookeeper/recipes/create-node.js';
import type { NewNode } from '../../../../lib/zookeeper/recipes/create-node.js';
import type { LockDirectory } from '../../../../lib/zookeeper/recipes/lock-directory.js';
import { CreateMode, ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { CreatedNode, MultiOp, MultiResult, Requests } from '../../../../lib/zookeeper/session/requests.js';

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/'));
const refused = () => Promise.reject(new Error('not a request that makes a znode'));

/** The znodes of a server, as far as creating them is concerned. */
class Tree implements Requests {
  readonly latestZxid = 0n;
  readonly paths: Set<string>;
  readonly transactions: (readonly MultiOp[])[] = [];
  /** The actions of other clients before a transaction arrives, in turn. */
  readonly meanwhile: (() => void)[] = [];
  /** The servers' error for every request that would have been applied. */
  refusal: number = ErrorCode.ok;
  #zxid = 100n;

  constructor(...paths: string[]) {
    this.paths = new Set(['', ...paths]);
  }

  createFirst(): Promise<never> {
    return Promise.reject(new Error('the directory is known'));
  }

  forget(): void {}

  knows(): boolean {
    return true;
  }

  async create({ path }: { readonly path: string }): Promise<CreatedNode> {
    const error = this.#errorOf(path, this.paths);
    if (error !== ErrorCode.ok) throw new KeeperError(error, path);
    this.paths.add(path);
    return { path: `${path}0000000000`, czxid: ++this.#zxid };
  }

  async multi(ops: readonly MultiOp[]): Promise<{ results: MultiResult[]; zxid: bigint }> {
    this.meanwhile.shift()?.();
    this.transactions.push(ops);
    const after = new Set(this.paths);
    const results: MultiResult[] = [];
    for (const { path } of ops) {
      const error = this.#errorOf(path, after);
      if (error !== ErrorCode.ok) return { results: refusedAt(ops, results.length, error), zxid: ++this.#zxid };
      after.add(path);
      results.push({ error: ErrorCode.ok, path: `${path}0000000000` });
    }
    after.forEach((path) => this.paths.add(path));
    return { results, zxid: ++this.#zxid };
  }

  #errorOf(path: string, paths: ReadonlySet<string>): number {
    if (!paths.has(parentOf(path))) return ErrorCode.noNode;
    return paths.has(path) ? ErrorCode.nodeExists : this.refusal;
  }

  readonly delete = refused;
  readonly children = refused;
  readonly read = refused;
  readonly watch = refused;
  readonly watchData = refused;
  readonly watchExistence = refused;
  readonly watchChildren = refused;
  readonly sync = refused;
}

/** The results of a failed transaction: nothing was applied, and the operations after the failed one were not tried. */
function refusedAt(ops: readonly MultiOp[], place: number, error: number): MultiResult[] {
  return ops.map((_, index) => {
    if (index < place) return { error: ErrorCode.ok };
    return { error: index === place ? error : ErrorCode.runtimeInconsistency };
  });
}

const acl = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const directory: LockDirectory = { path: '/locks/orders/42', acl, parents: 'container', releaseTimeoutMs: 1 };
const node: NewNode = { name: 'lock-', mode: CreateMode.ephemeralSequential, data: Buffer.from('me') };
const PARENTS = ['/locks', '/locks/orders', '/locks/orders/42'];

describe('creating a znode', () => {
  it('is one request when its parent exists', async () => {
    const tree = new Tree(...PARENTS);
    const created = await createNode(tree, directory, node);
    expect(created).toEqual({ path: '/locks/orders/42/lock-0000000000', czxid: 101n });
    expect(tree.transactions).toEqual([]);
  });

  it.each([0, 1, 2])('creates its missing parents when %i of them exist', async (there) => {
    const tree = new Tree(...PARENTS.slice(0, there));
    const { path } = await createNode(tree, directory, node);
    expect(path).toBe('/locks/orders/42/lock-0000000000');
    expect([...tree.paths]).toEqual(['', ...PARENTS, '/locks/orders/42/lock-']);
    const applied = tree.transactions.at(-1)?.map((op) => op.path);
    expect(applied).toEqual([...PARENTS.slice(there), '/locks/orders/42/lock-']);
    expect(tree.transactions).toHaveLength(PARENTS.length - there);
  });

  it('returns the zxid of the transaction that created it', async () => {
    const { czxid } = await createNode(new Tree('/locks', '/locks/orders'), directory, node);
    expect(czxid).toBe(101n);
  });

  it('creates containers with the directory’s access list, and the znode as requested', async () => {
    const tree = new Tree('/locks', '/locks/orders');
    await createNode(tree, directory, node);
    expect(tree.transactions).toEqual([
      [
        { type: 'createContainer', path: '/locks/orders/42', data: Buffer.alloc(0), acl, flags: CreateMode.container },
        { type: 'create', path: '/locks/orders/42/lock-', data: node.data, acl, flags: node.mode },
      ],
    ]);
  });

  it('creates persistent parents when they must stay', async () => {
    const tree = new Tree('/locks', '/locks/orders');
    await createNode(tree, { ...directory, parents: 'persistent' }, node);
    expect(tree.transactions[0]?.[0]).toMatchObject({ type: 'create', flags: CreateMode.persistent });
  });
});

describe('creating a znode while other clients change its parents', () => {
  let tree: Tree;

  beforeEach(() => {
    tree = new Tree('/locks');
  });

  it('uses parents that another client has just created', async () => {
    tree.meanwhile.push(() => PARENTS.forEach((path) => tree.paths.add(path)));
    await expect(createNode(tree, directory, node)).resolves.toMatchObject({
      path: '/locks/orders/42/lock-0000000000',
    });
  });

  it('recreates parents that a server has just deleted', async () => {
    tree.meanwhile.push(
      () => {},
      () => tree.paths.delete('/locks'),
    );
    await createNode(tree, directory, node);
    expect(tree.paths).toContain('/locks/orders/42/lock-');
  });

  it('reports that the znode exists when another client created it with its parents', async () => {
    tree.paths.add('/locks/orders');
    tree.meanwhile.push(() => {
      tree.paths.add('/locks/orders/42').add('/locks/orders/42/lock-0000000000');
    });
    const single = { ...node, name: 'lock-0000000000', mode: CreateMode.ephemeral };
    await expect(createNode(tree, directory, single)).rejects.toMatchObject({ code: ErrorCode.nodeExists });
  });

  it('gives up when parents are deleted as fast as they are created', async () => {
    const vanish = () => PARENTS.forEach((path) => tree.paths.delete(path));
    const appear = () => PARENTS.forEach((path) => tree.paths.add(path));
    tree.meanwhile.push(...Array.from({ length: 500 }, (_, turn) => (turn % 2 === 0 ? appear : vanish)));
    await expect(createNode(tree, directory, node)).rejects.toMatchObject({ code: ErrorCode.noNode });
    expect(tree.transactions.length).toBeLessThan(100);
  });
});

describe('creating a znode that is refused', () => {
  it.each([ErrorCode.noAuth, ErrorCode.invalidAcl, ErrorCode.quotaExceeded])(
    'reports the servers’ error %i, with parents and without',
    async (code) => {
      for (const tree of [new Tree(...PARENTS), new Tree('/locks')]) {
        tree.refusal = code;
        await expect(createNode(tree, directory, node)).rejects.toMatchObject({ code });
        expect([...tree.paths]).not.toContain('/locks/orders/42/lock-');
      }
    },
  );

  it('ends at the root when even that is missing', async () => {
    const tree = new Tree();
    tree.paths.clear();
    await expect(createNode(tree, directory, node)).rejects.toMatchObject({ code: ErrorCode.noNode });
    expect(tree.transactions).toHaveLength(PARENTS.length);
  });

  it('creates no parents when the znode exists', async () => {
    const tree = new Tree(...PARENTS, '/locks/orders/42/lock-');
    await expect(createNode(tree, directory, node)).rejects.toMatchObject({ code: ErrorCode.nodeExists });
    expect(tree.transactions).toEqual([]);
  });
});
