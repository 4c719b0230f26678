import { beforeEach, describe, expect, it } from 'vitest';
import { Handshakes } from '../../../../lib/zookeeper/client/handshakes.js';

const SESSION_MS = 1_000;

/** A last zxid in the driver's format. */
const zxid = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
};

let driver: { zxid: Buffer; sessionTimeout: number };
let handshakes: Handshakes;

beforeEach(() => {
  driver = { zxid: zxid(7n), sessionTimeout: SESSION_MS };
  handshakes = new Handshakes(driver);
});

const send = (at: number) => handshakes.send(at, () => {});

describe('unanswered handshakes', () => {
  it('are counted from the first that a server received', () => {
    send(100);
    expect(handshakes.unanswered(400)).toBe(300);
    handshakes.over(400);
    send(500);
    expect(handshakes.unanswered(900)).toBe(800);
  });

  it('are counted anew after an answer', () => {
    send(100);
    handshakes.unanswered(400);
    handshakes.over(400);
    send(500);
    handshakes.answered();
    handshakes.over(550);
    send(600);
    expect(handshakes.unanswered(650)).toBe(50);
  });

  it('are not counted when no server received them, because they renew nothing', () => {
    send(100);
    handshakes.answered();
    handshakes.over(200);
    expect(handshakes.unanswered(10_000)).toBe(0);
  });
});

describe('a handshake', () => {
  /** Returns the zxid that a handshake sent at that time claims to have seen. */
  const claimed = (at: number) => {
    let seen: bigint | undefined;
    handshakes.send(at, () => (seen = driver.zxid.readBigInt64BE(0)));
    expect(driver.zxid).toEqual(zxid(7n));
    expect(handshakes.claimsZxid).toBe(seen === 7n);
    return seen;
  };

  it('claims the last zxid until the connection has been gone for a session timeout', () => {
    send(0);
    handshakes.answered();
    expect(claimed(50_000)).toBe(7n);
    handshakes.answered();
    handshakes.over(60_000);
    expect(claimed(60_500)).toBe(7n);
    handshakes.over(60_500);
    expect(claimed(60_000 + SESSION_MS)).toBe(7n);
    handshakes.over(61_100);
    expect(claimed(61_200)).toBe(0n);
  });

  it('claims it again after an answer', () => {
    handshakes.over(0);
    expect(claimed(2 * SESSION_MS)).toBe(0n);
    handshakes.answered();
    handshakes.over(3 * SESSION_MS);
    expect(claimed(3 * SESSION_MS)).toBe(7n);
  });

  it.each([
    [6n, true],
    [7n, false],
    [8n, false],
  ])('answered by a server at zxid %s finds the server behind: %s', async (at, isBehind) => {
    const ask = async (_type: number, _body: Buffer, _path: string, read: (reply: never) => bigint) =>
      read({ zxid: at } as never);
    await expect(handshakes.isBehind(ask)).resolves.toBe(isBehind);
  });
});
