import { describe, expect, it } from 'vitest';
import { attempt } from './records.js';
import { checkRefusals } from './refusals.js';

describe('refusals', () => {
  const refused = attempt({ mode: 'read', outcome: 'not this time' });

  it('finds a reader that is refused on a key that is never written', () => {
    expect(checkRefusals({ attempts: [refused, attempt({ mode: 'read' })] })).toHaveLength(1);
  });

  it('accepts refusals on keys with writers, and granted readers', () => {
    expect(checkRefusals({ attempts: [refused, attempt({ mode: 'write' })] })).toEqual([]);
    expect(checkRefusals({ attempts: [attempt({ mode: 'read' })] })).toEqual([]);
  });
});
