import { Session } from '../../../lib/zookeeper/session/session.js';
import type { ProgramHost } from '../cluster/program.js';

type Told = Pick<ProgramHost<never, never>, 'claimed' | 'told'>;

/**
 * Reports the claims of sessions where they change. This instance of the code belongs to this process alone, so the
 * prototype of `Session` can be patched.
 */
export function observeClaims({ claimed, told }: Told): void {
  const { connected } = Session.prototype;
  Session.prototype.connected = function (this: Session, handshake): void {
    told(this.id, handshake.timeoutMs);
    connected.call(this, handshake);
  };
  for (const method of ['answered', 'connected'] as const) {
    const real = Session.prototype[method] as (news: never) => void;
    Session.prototype[method] = function (this: Session, news: never): void {
      real.call(this, news);
      if (!this.signal.aborted) claimed(this.id, this.leftMs);
    };
  }
}
