import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { ALL, OPEN } from '../wire/fields.js';
import type { AclEntry } from '../wire/fields.js';
import { CLIENTS } from './operation.js';
import type { Operation, Single } from './operation.js';

/**
 * Few paths, so that clients use the same ones: existing and missing, with names of sequences, and some invalid ones.
 */
const PATHS: readonly string[] = [
  '/r/a',
  '/r/b',
  '/r/a/x',
  '/r/a/y',
  '/r/a/x/deep',
  '/r/b/x',
  '/r/b/s-0000000000',
  '/r/b/s-0000000001',
];
const ODD_PATHS = ['/none/x', '', 'r', '/r/a/', '//', '/r/..', '/r/a/x/-'];

const path = fc.oneof(
  { weight: 14, arbitrary: fc.constantFrom(...PATHS) },
  { weight: 2, arbitrary: fc.constant('/r') },
  { weight: 1, arbitrary: fc.constantFrom(...ODD_PATHS) },
);
/** A path at which a node is created. */
const place = fc.oneof(
  { weight: 6, arbitrary: path },
  { weight: 2, arbitrary: fc.constantFrom('/r/b/s-', '/r/a/', '/r/b/x') },
);
const version = fc.oneof(
  { weight: 6, arbitrary: fc.constant(-1) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 1, arbitrary: fc.constant(-2) },
);
const data = fc.constantFrom('', 'x', 'some data');
const watch = fc.boolean();

const list = (permissions: number, scheme: string, id: string): readonly AclEntry[] => [{ permissions, scheme, id }];
const acl = fc.oneof(
  { weight: 20, arbitrary: fc.constant(OPEN) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      list(ALL, 'auth', ''),
      list(ALL & ~2, 'world', 'anyone'),
      list(1, 'world', 'anyone'),
      list(ALL, 'ip', '127.0.0.1'),
      [],
    ),
  },
);
const flags = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(0, 0, 1, 2, 3) },
  { weight: 1, arbitrary: fc.constantFrom(4, 5, 6, 9, -1) },
);

const creating: Arbitrary<Single> = fc.record({
  do: fc.constantFrom('create', 'create2', 'createContainer', 'createTtl'),
  path: place,
  data,
  flags,
  acl,
});
const writing: Arbitrary<Single> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), path, version }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('setData' as const), path, data, version }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('setAcl' as const), path, acl, version }) },
);
const reading: Arbitrary<Single> = fc.record({
  do: fc.constantFrom('exists', 'getData', 'getChildren', 'getChildren2'),
  path,
  watch,
});
const looking: Arbitrary<Single> = fc.record({
  do: fc.constantFrom('getAcl', 'sync', 'getEphemerals', 'getAllChildrenNumber'),
  path,
});
const watching: Arbitrary<Single> = fc.record({
  do: fc.constantFrom('addWatch', 'removeWatches', 'checkWatches'),
  path,
  kind: fc.integer({ min: 0, max: 3 }),
});
const oneself: Arbitrary<Single> = fc.oneof(
  fc.record({ do: fc.constant('auth' as const), password: fc.constantFrom('ann:secret', 'bob:secret') }),
  fc.record({ do: fc.constantFrom('whoAmI', 'ping') }),
);
const checking: Arbitrary<Single> = fc.record({ do: fc.constant('check' as const), path, version });

const paths = fc.array(fc.constantFrom(...PATHS), { maxLength: 3 });
const toTheConnection = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('begin again' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('come back' as const),
      how: fc.constantFrom('fin', 'reset'),
      ago: fc.integer({ min: 0, max: 8 }),
      known: fc.record({ data: paths, exist: paths, child: paths, persistent: paths, recursive: paths }),
      knowsPersistent: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const) }) },
);

const transacted = fc.array(fc.oneof(creating, writing, checking), { minLength: 1, maxLength: 4 });
const asked = fc.oneof(
  { weight: 9, arbitrary: creating },
  { weight: 7, arbitrary: writing },
  { weight: 8, arbitrary: reading },
  { weight: 2, arbitrary: looking },
  { weight: 3, arbitrary: watching },
  { weight: 1, arbitrary: oneself },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('multi' as const), ops: transacted }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('multiRead' as const), ops: fc.array(readingInOne(), { maxLength: 4 }) }),
  },
);

const operation: Arbitrary<Operation> = fc
  .tuple(
    fc.integer({ min: 0, max: CLIENTS.length - 1 }),
    fc.oneof({ weight: 30, arbitrary: asked }, { weight: 2, arbitrary: toTheConnection }),
  )
  .map(([by, what]) => ({ by, ...what }) as Operation);

/** Sequences of up to `most` operations, mostly long ones. */
export const operations = (most: number): Arbitrary<Operation[]> =>
  fc.array(operation, { minLength: 1, maxLength: most, size: 'max' });

function readingInOne(): Arbitrary<Single> {
  return fc.record({ do: fc.constantFrom('getData', 'getChildren'), path, watch: fc.constant(false) });
}
