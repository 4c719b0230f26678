import { describe, expect, it } from 'vitest';
import { attempt } from './records.js';
import { checkRefusals } from './refusals.js';

describe('refusals', () => {
  const refused = attempt({ mode: 'read', outcome: 'not this time' });

  it('finds a reader that is refused on a key that nobody writes', () => {
    expect(checkRefusals({ attempts: [refused, attempt({ mode: 'read' })] })).toHaveLength(1);
  });

  it('is content where somebody asks to write the key, and with readers that get theirs', () => {
    expect(checkRefusals({ attempts: [refused, attempt({ mode: 'write' })] })).toEqual([]);
    expect(checkRefusals({ attempts: [attempt({ mode: 'read' })] })).toEqual([]);
  });
});
