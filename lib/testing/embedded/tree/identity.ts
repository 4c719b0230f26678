import { createHash } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** One identity of a connection: its address, or one that it has proved since. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** Returns `user:password` in the form of an ACL: `user:<base64 of the SHA-1 of both>`. */
export function digestOf(userAndPassword: string): string {
  const [user = ''] = userAndPassword.split(':', 1);
  return `${user}:${createHash('sha1').update(userAndPassword).digest('base64')}`;
}

/** Returns the name to display: a user without the hash of the password. */
export function userOf({ scheme, id }: Identity): string {
  return scheme === 'digest' ? (id.split(':', 1)[0] ?? '') : id;
}

/** Whether the text is `address` or `address/bits`. */
export function isIpRange(text: string): boolean {
  const [address = '', bits = '32', ...more] = text.split('/');
  return more.length === 0 && isIPv4(address) && /^\d{1,2}$/.test(bits) && Number(bits) <= 32;
}

export function isInIpRange(address: string, range: string): boolean {
  const [start = '', bits = '32'] = range.split('/');
  if (!isIPv4(address) || !isIpRange(range)) return address === range;
  const shift = 32n - BigInt(bits);
  return ipNumber(address) >> shift === ipNumber(start) >> shift;
}

function ipNumber(address: string): bigint {
  return address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}
