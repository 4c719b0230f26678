import { describe, expect, it } from 'vitest';
import { itemData, readItemData } from '../../../../lib/zookeeper/coordination/queue-place.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('the data of an item', () => {
  it('is in Curator’s format, with the id appended', () => {
    expect(itemData(Buffer.from('hi'), 'id')).toEqual(hex('00010001 01 00000002 6869 02 6964'));
    expect(readItemData(hex('00010001 01 00000002 6869 02 6964'))).toEqual({ payloads: [Buffer.from('hi')], id: 'id' });
  });

  it('may contain several values or none, and no id, when others wrote it', () => {
    const several = hex('00010001 01 00000001 61 01 00000000 01 00000002 6263 02');
    expect(readItemData(several)).toEqual({ payloads: ['a', '', 'bc'].map((text) => Buffer.from(text)), id: '' });
    expect(readItemData(hex('00010001 02'))).toEqual({ payloads: [], id: '' });
  });

  it.each([
    '',
    '0001',
    '00020001 02',
    '00010001',
    '00010001 03',
    '00010001 01 0000',
    '00010001 01 00000005 61',
    '00010001 01 ffffffff 02',
  ])('is refused when it begins differently or is cut off: %j', (data) => {
    expect(readItemData(hex(data))).toBeUndefined();
  });
});
