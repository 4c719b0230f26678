import { describe, expect, it } from 'vitest';
import { durationOf, durationText, escaped, jsonText, printable, tableText } from '../../../lib/command/command-io.js';

describe('the text of a command', () => {
  it('shows control and direction characters as escapes, and ends at 256 characters', () => {
    expect(printable('a\u001b[2J\r\n\u009b\u202eb\u2028')).toBe('a\\u001b[2J\\u000d\\u000a\\u009b\\u202eb\\u2028');
    expect(printable('x'.repeat(300))).toBe(`${'x'.repeat(256)}…`);
  });

  it('is whole where it says what is wrong, or what to change', () => {
    expect(escaped(`a\u001b${'x'.repeat(300)}`)).toBe(`a\\u001b${'x'.repeat(300)}`);
    expect(tableText(['CHANGE'], [['x'.repeat(300)]], escaped)).toBe(`CHANGE\n${'x'.repeat(300)}\n`);
  });

  it('is JSON that says the same, with tokens as text', () => {
    const value = { label: 'a\u009b\u202e\u001b"', token: 5n };
    const text = jsonText(value);
    expect(text).not.toMatch(/[\u001b\u009b\u202e]/);
    expect(JSON.parse(text)).toEqual({ label: value.label, token: '5' });
  });

  it('has columns', () => {
    expect(tableText(['A', 'B'], [['long', 'x']])).toBe('A     B\nlong  x\n');
  });

  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [61_000, '1 min'],
    [7_200_000, '2 h'],
    [180_000_000, '2 d'],
  ])('shows %d ms as %s', (ms, text) => expect(durationText(ms)).toBe(text));

  it('takes durations in ms, s and min', () => {
    expect(['500', '500ms', '5s', '2min'].map((text) => durationOf('--grace', text))).toEqual([
      500, 500, 5_000, 120_000,
    ]);
    expect(() => durationOf('--grace', '5h')).toThrow('--grace must be a duration');
  });
});
