import { describe, expect, it } from 'vitest';
import { HandshakeLog } from '../../../../lib/zookeeper/client/handshake-log.js';

describe('a log of handshakes', () => {
  it('says for how long servers have heard and been silent, from the first of them on', () => {
    const log = new HandshakeLog();
    log.sent(100);
    expect(log.unanswered(400)).toBe(300);
    log.over();
    log.sent(500);
    expect(log.unanswered(900)).toBe(800);
  });

  it('begins again with an answer', () => {
    const log = new HandshakeLog();
    log.sent(100);
    log.unanswered(400);
    log.over();
    log.sent(500);
    log.answered();
    log.over();
    log.sent(600);
    expect(log.unanswered(650)).toBe(50);
  });

  it('does not count servers that nothing was said to: they renew nothing', () => {
    const log = new HandshakeLog();
    log.sent(100);
    log.answered();
    log.over();
    expect(log.unanswered(10_000)).toBe(0);
  });
});
