import { onTestFinished } from 'vitest';
import { handshakeFrame } from '../../../conformance/stage/handshake.js';
import type { Handshake } from '../../../conformance/stage/handshake.js';
import { RawConnection } from '../../../conformance/wire/raw-connection.js';

const PATIENCE_MS = 20_000;

/** A connection that is closed when the test has finished. */
export async function openRaw({ port }: { readonly port: number }): Promise<RawConnection> {
  const raw = await RawConnection.open({ port, patienceMs: PATIENCE_MS });
  onTestFinished(() => raw.destroy());
  return raw;
}

/** A connection after its handshake, with its session. */
export async function openRawSession(server: { readonly port: number }, handshake: Handshake = {}) {
  const raw = await openRaw(server);
  raw.write(handshakeFrame(handshake));
  const welcome = await raw.next();
  if (!welcome) throw new Error('closed without a welcome');
  return { raw, sessionId: welcome.readBigInt64BE(8), password: welcome.subarray(20, 36) };
}
