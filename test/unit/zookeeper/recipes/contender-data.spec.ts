import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { contenderData, contenderId } from '../../../../lib/zookeeper/recipes/contender-data.js';

describe('the data of a contender', () => {
  it('says who stands there', () => {
    const data = JSON.parse(contenderData('nightly report', 'id-1').toString()) as unknown;
    expect(data).toEqual({ host: hostname(), pid: process.pid, label: 'nightly report', id: 'id-1' });
  });

  it('leaves out what is not known', () => {
    expect(Object.keys(JSON.parse(contenderData().toString()) as object)).toEqual(['host', 'pid']);
  });

  it('gives the id back', () => {
    expect(contenderId(contenderData('label', 'id-1'))).toBe('id-1');
    expect(contenderId(contenderData('label'))).toBeUndefined();
  });

  it.each(['', '127.0.0.1', '__REVOKE__', 'null', '5', '"text"', '[]', '{', '{}'])(
    'has no id when it is %j',
    (text) => {
      expect(contenderId(Buffer.from(text))).toBeUndefined();
    },
  );
});
