import { describe, expect, it } from 'vitest';
import { check, checkFields, checkMs, describe as describeValue } from '../../../lib/contract/check.js';
import { LockConfigurationError } from '../../../lib/contract/errors.js';

class Basket {
  readonly secret = 'hunter2';
}

describe('check', () => {
  it('accepts an allowed value', () => {
    expect(() => check(true, 'parents', 'container', "'container'")).not.toThrow();
  });

  it('names the field, the allowed values and the actual value', () => {
    const checking = () => check(false, 'parents', 7, "'container' or 'persistent'");
    expect(checking).toThrow(LockConfigurationError);
    expect(checking).toThrow("parents must be 'container' or 'persistent', got the number 7");
  });
});

describe('checkFields', () => {
  it.each([[{}], [{ waitMs: 1 }], [{ waitMs: 1, backend: undefined }]])('accepts %j', (options) => {
    expect(() => checkFields('options', options, ['waitMs', 'backend'])).not.toThrow();
  });

  it('refuses a misspelt field and lists the known fields', () => {
    const checking = () => checkFields('options', { waitMS: 1 }, ['waitMs', 'backend']);
    expect(checking).toThrow(LockConfigurationError);
    expect(checking).toThrow('options: unknown field "waitMS" (known: waitMs, backend)');
  });

  it('does not print the value of an unknown field', () => {
    expect(() => checkFields('options', { password: 'hunter2' }, ['waitMs'])).toThrow(
      /^options: unknown field "password" \(known: waitMs\)$/,
    );
  });

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [[], 'an array of 0'],
    ['zk:2181', 'the string "zk:2181"'],
    [() => {}, 'function'],
  ])('refuses %j as options', (options, kind) => {
    expect(() => checkFields('options', options, [])).toThrow(`options must be an object, got ${kind}`);
  });
});

describe('checkMs', () => {
  it.each([0, 1, 0.5, 2 ** 40, Infinity])('accepts %d', (ms) => {
    expect(() => checkMs('waitMs', ms)).not.toThrow();
  });

  it.each([-1, -0.1, NaN, -Infinity, '100', null, undefined, 5n, new Date(5)])('refuses %s', (ms) => {
    const checking = () => checkMs('waitMs', ms);
    expect(checking).toThrow(LockConfigurationError);
    expect(checking).toThrow(`waitMs must be a number of milliseconds, 0 or more, got ${describeValue(ms)}`);
  });

  it('accepts its limits, and nothing outside', () => {
    const allowed = [9, 10, 20, 21].filter((ms) => {
      try {
        checkMs('waitMs', ms, 10, 20);
        return true;
      } catch {
        return false;
      }
    });
    expect(allowed).toEqual([10, 20]);
  });

  it('names both limits', () => {
    expect(() => checkMs('waitMs', 5, 10, 20)).toThrow('a number of milliseconds, from 10 to 20, got the number 5');
  });
});

describe('the description of a value', () => {
  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    ['zk', 'the string "zk"'],
    ['say "hi"\n', String.raw`the string "say \"hi\"\n"`],
    [NaN, 'the number NaN'],
    [-1, 'the number -1'],
    [10n, 'the bigint 10'],
    [false, 'the boolean false'],
    [[1, 2, 3], 'an array of 3'],
    [{ a: 1 }, 'an object (Object)'],
    [new Basket(), 'an object (Basket)'],
    [Object.create(null), 'an object (no class)'],
    [() => {}, 'function'],
    [Symbol('s'), 'symbol'],
  ])('of %o is %s', (value, expected) => {
    expect(describeValue(value)).toBe(expected);
  });

  it('truncates text after 40 characters', () => {
    expect(describeValue('x'.repeat(41))).toBe(`the string "${'x'.repeat(40)}…"`);
    expect(describeValue('x'.repeat(40))).toBe(`the string "${'x'.repeat(40)}"`);
  });
});
