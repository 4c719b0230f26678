import { describe, expect, it } from 'vitest';
import type { Fault, Hold } from '../../robustness/model/history.js';
import { SESSION_CLOSED } from '../../robustness/validate/closed-sessions.js';
import { fault, hold } from '../../robustness/validate/records.js';
import { contendersOf } from '../model/contenders.js';
import type { MadeZnode } from '../model/contenders.js';
import { keptApart } from '../model/services.js';
import { checkBeliefs } from './beliefs.js';
import { NOTHING } from './records.js';

const CZXID = 7n;
/** The token of the contender. The bits below are for hand-overs. */
const TOKEN = CZXID << 16n;
const GONE_AT = 2_000;
const NOTICE_MS = 40;

const znode = (special: Partial<MadeZnode> = {}, key = '/locks/k'): MadeZnode => ({
  path: `${key}/_c_1234-lock-0000000001`,
  czxid: CZXID,
  session: 's',
  madeAt: 0,
  goneAt: GONE_AT,
  ...special,
});

interface Setting {
  readonly znodes?: readonly MadeZnode[];
  readonly faults?: readonly Fault[];
  readonly services?: number;
}

/** The findings for a hold under the contender. By default the hold began before the contender was gone. */
function findings(special: Partial<Hold>, { znodes = [znode()], faults = [], services = 1 }: Setting = {}) {
  const holds = [hold({ process: 'app-1.1', token: TOKEN, from: 10, ...special })];
  const history = keptApart({ ...NOTHING, holds, contenders: contendersOf(znodes, holds), faults }, services);
  return checkBeliefs(history, { noticeMs: NOTICE_MS });
}

describe('a hold', () => {
  it('ends before its contender is gone', () => {
    expect(findings({ seenUntil: GONE_AT })).toEqual([]);
    expect(findings({ seenUntil: GONE_AT + 1 })).toMatchObject([{ check: 'claim' }]);
  });

  it('does not begin after its contender is gone', () => {
    expect(findings({ from: GONE_AT, seenUntil: GONE_AT })).toEqual([]);
    expect(findings({ from: GONE_AT + 1, seenUntil: GONE_AT + 1 })).toHaveLength(1);
  });

  it('of the next caller of the process depends on the same contender', () => {
    expect(findings({ token: TOKEN + 3n, seenUntil: GONE_AT + 1 })).toHaveLength(1);
  });

  it('depends on a contender of its own key', () => {
    const other = znode({ goneAt: 500 }, '/locks/other');
    expect(findings({ seenUntil: GONE_AT }, { znodes: [other, znode()] })).toEqual([]);
    expect(findings({ seenUntil: GONE_AT + 1 }, { znodes: [other, znode()] })).toHaveLength(1);
    expect(findings({ seenUntil: GONE_AT }, { znodes: [other] })).toEqual([]);
  });

  it('is not judged by a contender of another token, nor by an existing one', () => {
    expect(findings({ seenUntil: 9_000 }, { znodes: [znode({ czxid: CZXID + 1n })] })).toEqual([]);
    expect(findings({ seenUntil: 9_000 }, { znodes: [znode({ goneAt: undefined })] })).toEqual([]);
  });

  it.each(['run', 'term'] as const)('is judged if its token is that of a contender: %s', (kind) => {
    expect(findings({ kind, seenUntil: GONE_AT + 1 })).toHaveLength(1);
    expect(findings({ kind, seenUntil: GONE_AT + 1 }, { services: 2 })).toHaveLength(1);
  });

  it.each(['permits', 'item', 'member'] as const)('is not judged if its token is that of another znode: %s', (kind) => {
    expect(findings({ kind, seenUntil: 9_000 })).toEqual([]);
  });

  it("of a reader that was the writer outlives the writer's contender", () => {
    expect(findings({ isDowngraded: true, seenUntil: 9_000 })).toEqual([]);
    expect(findings({ isDowngraded: false, seenUntil: 9_000 })).toHaveLength(1);
  });

  describe('whose session was closed from outside', () => {
    const ended = (special: Partial<Fault> = {}) => ({
      faults: [fault({ name: SESSION_CLOSED, target: 'app-1.1', from: GONE_AT, until: GONE_AT + 10, ...special })],
    });
    const late = { seenUntil: GONE_AT + NOTICE_MS };

    it('ends by the next heartbeat', () => {
      expect(findings(late, ended())).toEqual([]);
      expect(findings({ seenUntil: GONE_AT + NOTICE_MS + 1 }, ended())).toHaveLength(1);
    });

    it('may begin before that heartbeat', () => {
      expect(findings({ from: GONE_AT + 15, ...late }, ended())).toEqual([]);
    });

    it('is exempt for that reason only', () => {
      expect(findings(late, ended({ target: 'app-2.1' }))).toHaveLength(1);
      expect(findings(late, ended({ name: 'reset' }))).toHaveLength(1);
    });

    it('is not exempt if the contender was gone before', () => {
      expect(findings(late, ended({ from: GONE_AT + 1 }))).toHaveLength(1);
    });

    it('is not exempt if the contender existed for long after that', () => {
      const long = { until: GONE_AT + 5_000 };
      expect(findings(late, ended({ from: GONE_AT - 1_000, ...long }))).toEqual([]);
      expect(findings(late, ended({ from: GONE_AT - 1_001, ...long }))).toHaveLength(1);
    });
  });
});
