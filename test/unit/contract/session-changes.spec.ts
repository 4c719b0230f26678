import { describe, expect, it } from 'vitest';
import { SessionChanges } from '../../../lib/contract/session-changes.js';
import type { SessionChange } from '../../../lib/contract/survey.js';

function start() {
  const changes = new SessionChanges();
  const heard: SessionChange[] = [];
  changes.observe((change) => heard.push(change));
  return { changes, heard, states: () => heard.map(({ before, state }) => `${before} > ${state}`) };
}

const first = { sessionId: '0x1', sessionTimeoutMs: 10_000, server: 'zk1:2181' };
const next = { sessionId: '0x2', sessionTimeoutMs: 10_000, server: 'zk2:2181' };

describe('the changes of a session', () => {
  it('are told once each, with session, server and reason', () => {
    const { changes, heard } = start();
    changes.connected(first);
    changes.connected(first);
    changes.suspended('read ECONNRESET');
    changes.suspended('connect ECONNREFUSED');
    changes.connected(first);
    expect(heard).toEqual([
      { ...first, state: 'connected', before: undefined, why: undefined },
      { ...first, state: 'suspended', before: 'connected', why: 'read ECONNRESET' },
      { ...first, state: 'connected', before: 'suspended', why: undefined },
    ]);
  });

  it('name the session that is lost, and then the next one', () => {
    const { changes, heard, states } = start();
    changes.connected(first);
    changes.suspended('read ECONNRESET');
    changes.lost('expired');
    changes.connected(next);
    expect(states()).toEqual([
      'undefined > connected',
      'connected > suspended',
      'suspended > lost',
      'lost > connected',
    ]);
    expect(heard.map(({ sessionId }) => sessionId)).toEqual(['0x1', '0x1', '0x1', '0x2']);
  });

  it('include a session that follows another one without a loss', () => {
    const { changes, states } = start();
    changes.connected(first);
    changes.connected(next);
    expect(states()).toEqual(['undefined > connected', 'connected > connected']);
  });

  it('do not begin with an interruption, and end with the first close', () => {
    const { changes, states } = start();
    changes.suspended('connect ECONNREFUSED');
    changes.connected(first);
    changes.closed();
    changes.closed();
    changes.connected(next);
    expect(states()).toEqual(['undefined > connected', 'connected > closed']);
  });
});
