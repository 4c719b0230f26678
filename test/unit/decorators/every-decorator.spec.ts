import { runInThisContext } from 'node:vm';
import { applyDecorators, SetMetadata } from '@nestjs/common';
import ts from 'typescript-6';
import { describe, expect, it } from 'vitest';
import * as lib from '../../../lib/index.js';
import { InjectLockTesting } from '../../../lib/testing/index.js';

// alone: one of the longest files.

// LockInterceptor makes a class for @UseInterceptors. Its refusals are tested in test/nest/lock-interceptor.spec.ts.
const { LockInterceptor: _interceptor, ...decorators } = lib;
const api = { ...decorators, InjectLockTesting };
const { LockConfigurationError } = lib;

type Factory = (...args: unknown[]) => (...args: unknown[]) => void;

/** Whether an export is a decorator factory: a function with a capital that is not a class. */
const isFactory = (name: string, value: unknown) =>
  typeof value === 'function' &&
  /^[A-Z]/.test(name) &&
  Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === true;

const FACTORIES = Object.entries(api).filter(([name, value]) => isFactory(name, value)) as unknown as [
  string,
  Factory,
][];

/** The text of each decorator with its arguments. The first test fails when one is missing here. */
const WRITTEN: Readonly<Record<string, { readonly text: string; readonly args: readonly unknown[] }>> = {
  CronLock: { text: '@CronLock()', args: [] },
  DistributedLock: { text: "@DistributedLock('key')", args: ['key'] },
  InjectCoordination: { text: '@InjectCoordination()', args: [] },
  InjectCronRuns: { text: '@InjectCronRuns()', args: [] },
  InjectLeaderElection: { text: '@InjectLeaderElection()', args: [] },
  InjectLockTesting: { text: '@InjectLockTesting()', args: [] },
  InjectLocks: { text: '@InjectLocks()', args: [] },
  LeaderOnly: { text: "@LeaderOnly('name')", args: ['name'] },
  OnDeposed: { text: "@OnDeposed('name')", args: ['name'] },
  OnElected: { text: "@OnElected('name')", args: ['name'] },
  OutsideLock: { text: '@OutsideLock(Decorator())', args: [() => {}] },
  ReadLock: { text: "@ReadLock('key')", args: ['key'] },
  SegmentLock: {
    text: "@SegmentLock({ key: 'key', segments: 16 })",
    args: [{ key: 'key', segments: 16 }],
  },
  Semaphore: { text: "@Semaphore('key', { permits: 4 })", args: ['key', { permits: 4 }] },
  WriteLock: { text: "@WriteLock('key')", args: ['key'] },
};

/** Sources, and how the refusal names the place. Standard decorators can decorate only a class and its members. */
const SOURCES = [
  ['a method', 'class Orders { @D async place() {} }', 'Orders.place'],
  ['a static method', 'class Orders { @D static async place() {} }', 'Orders.place'],
  ['an accessor', 'class Orders { @D get place() { return 1 } }', 'Orders.place'],
  ['a property', 'class Orders { @D place = async () => {} }', 'Orders.place'],
  ['a method with a symbol', 'class Orders { @D async [Symbol.iterator]() {} }', 'Orders.Symbol(Symbol.iterator)'],
  ['a class', '@D class Orders { async place() {} }', 'class Orders'],
  ['a parameter', 'class Orders { async place(@D a) {} }', 'a parameter of Orders.place'],
  ['a parameter of a constructor', 'class Orders { constructor(@D a) {} }', 'a parameter of new Orders'],
] as const;

const COMPILERS = {
  'TypeScript, experimental decorators': { experimentalDecorators: true },
  'TypeScript, experimental decorators and metadata': { experimentalDecorators: true, emitDecoratorMetadata: true },
  'TypeScript, experimental decorators and useDefineForClassFields': {
    experimentalDecorators: true,
    useDefineForClassFields: true,
  },
  'TypeScript, standard decorators': { experimentalDecorators: false },
} as const;

/** Loads the class as the compiler emits it, without a type check. */
function load(source: string, options: ts.CompilerOptions, decorator: unknown): void {
  const target = ts.ScriptTarget.ES2022;
  const { outputText } = ts.transpileModule(source, { compilerOptions: { target, ...options } });
  (runInThisContext(`(function (D, Reflect) { ${outputText} })`) as Function)(decorator, Reflect);
}

const refusal = (name: string, place: string) => `@${name} on ${place} needs parentheses: write ${WRITTEN[name]?.text}`;

it('every decorator of the package is tested here', () => {
  expect(FACTORIES.map(([name]) => name).toSorted()).toEqual(Object.keys(WRITTEN).toSorted());
});

describe.each(FACTORIES)('%s without parentheses', (name, factory) => {
  describe.each(Object.entries(COMPILERS))('compiled by %s', (_compiler, options) => {
    const isStandard = !options.experimentalDecorators;

    it.each(SOURCES.filter(([, source]) => !(isStandard && source.includes('(@D'))))(
      'on %s',
      (_what, source, place) => {
        // A standard decorator does not get the class.
        const told = isStandard ? place.replace('Orders.', '') : place;
        const loading = () => load(source, options, factory);
        expect(loading).toThrow(LockConfigurationError);
        expect(loading).toThrow(refusal(name, told));
      },
    );
  });

  it('compiled by oxc', () => {
    const bare = factory as never;
    const onMethod = () => {
      class Orders {
        @(bare as MethodDecorator)
        async place() {}
      }
      return Orders;
    };
    const onProperty = () => {
      class Orders {
        @(bare as PropertyDecorator)
        place = async () => {};
      }
      return Orders;
    };
    const onParameter = () => {
      class Orders {
        async place(@(bare as ParameterDecorator) _id: string) {}
      }
      return Orders;
    };
    expect(onMethod).toThrow(refusal(name, 'Orders.place'));
    expect(onProperty).toThrow(refusal(name, 'Orders.place'));
    expect(onParameter).toThrow(refusal(name, 'a parameter of Orders.place'));
  });

  it('called as by other compilers', () => {
    class Orders {
      async place() {}
    }
    const { prototype } = Orders;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, 'place');
    const calls = [
      [prototype, 'place', descriptor],
      [prototype, 'place', undefined],
      [prototype, 'place'],
      [Orders, 'place'],
    ];
    for (const call of calls) expect(() => factory(...call)).toThrow(refusal(name, 'Orders.place'));
    expect(() => factory(prototype.place, { kind: 'method', name: 'place' })).toThrow(refusal(name, 'place'));
    expect(() => factory(undefined, { kind: 'field', name: 'place' })).toThrow(refusal(name, 'place'));
  });

  it('inside a decorator of the application that passes on its arguments', () => {
    class Orders {
      async place() {}
    }
    const { prototype } = Orders;
    const team = (...given: unknown[]) =>
      applyDecorators(SetMetadata('team', true), factory(...given) as MethodDecorator);
    const withFirst = (first: unknown) => factory(first);
    const withOptions = (first: unknown) => factory(first, { waitMs: 5 });
    for (const wrapper of [team, withFirst, withOptions]) {
      const decorate = wrapper as (...call: unknown[]) => unknown;
      expect(() => decorate(prototype, 'place', undefined)).toThrow(
        /(Orders\.place|a member of Orders) needs parentheses/,
      );
    }
  });

  it('is not confused with a use with parentheses', () => {
    expect(() => factory(...(WRITTEN[name]?.args ?? []))).not.toThrow();
  });
});

describe.each(FACTORIES.filter(([name]) => !name.startsWith('Inject')))('%s with parentheses', (name, factory) => {
  const decorator = () => factory(...(WRITTEN[name]?.args ?? []));

  it.each([
    ['a static method', 'Orders.place cannot lock a static method'],
    ['an accessor', 'Orders.place cannot lock an accessor'],
    ['a property', 'Orders.place cannot lock a property: turn the arrow function into a method'],
    ['a class', 'class Orders cannot lock a class: put it above its methods'],
    ['a parameter', 'a parameter of Orders.place cannot lock a parameter: put it above the method'],
    ['a parameter of a constructor', 'a parameter of new Orders cannot lock a parameter: put it above the method'],
  ])('refuses %s', (what, why) => {
    const source = SOURCES.find(([place]) => place === what)?.[1] ?? '';
    const loading = () => load(source, { experimentalDecorators: true }, decorator());
    expect(loading).toThrow(LockConfigurationError);
    expect(loading).toThrow(`@${name} on ${why}`);
  });

  it('refuses standard decorators', () => {
    const loading = () => load('class Orders { @D async place() {} }', {}, decorator());
    expect(loading).toThrow(`@${name} needs "experimentalDecorators": true`);
  });
});

describe('an argument that resembles a decorated place', () => {
  it.each([
    [['key', {}]],
    [[['a', 'b']]],
    [[() => 'key', { waitMs: 0 }]],
    [[async function named() {}]],
    [[function (this: never) {}, {}]],
  ])('%o', (args) => {
    expect(() => (api.DistributedLock as Factory)(...args)).not.toThrow();
  });
});
