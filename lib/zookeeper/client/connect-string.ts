export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ConnectString {
  readonly servers: readonly ServerAddress[];
  /** The path that all keys are below: '' or '/app'. */
  readonly chroot: string;
}

const DEFAULT_PORT = 2181;
const UNPRINTABLE = /[\u0000-\u0020\u007f-\u00a0]/u;
const HOST_AND_PORT = /:\d{1,5}$/;
const SERVER = /^(?:\[(?<ipv6>[0-9a-fA-F:.%a-z]+)\]|(?<host>[^\s:[\]/]+))(?::(?<port>\d{1,5}))?$/;

/**
 * Parses `host1:2181,host2,[::1]:2181/chroot`. There is one chroot for all servers, written after the last server.
 * @throws RangeError that says which part is wrong
 */
export function parseConnectString(text: string): ConnectString {
  const parts = text.split(',').map(splitChroot);
  const servers = parts.map(({ server }) => parseServer(server));
  parts.forEach(({ chroot }) => checkChroot(chroot));
  if (parts.slice(0, -1).some(({ chroot }) => chroot !== '')) throw chrootInside(text, parts);
  const chroot = parts.at(-1)?.chroot ?? '';
  return { servers, chroot: chroot === '/' ? '' : chroot };
}

/** A part of the connect string between two commas. */
interface Part {
  readonly server: string;
  /** The chroot with its slash, or ''. */
  readonly chroot: string;
}

function splitChroot(part: string): Part {
  const slash = part.indexOf('/');
  return slash < 0 ? { server: part, chroot: '' } : { server: part.slice(0, slash), chroot: part.slice(slash) };
}

function parseServer(text: string): ServerAddress {
  const groups = SERVER.exec(text.trim())?.groups;
  const host = groups?.['ipv6'] ?? groups?.['host'];
  const port = Number(groups?.['port'] ?? DEFAULT_PORT);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new RangeError(`"${text}" is not a server; write host, host:port or [ipv6]:port`);
  }
  return { host, port };
}

function checkChroot(chroot: string): void {
  if (chroot === '' || chroot === '/') return;
  const segments = chroot.split('/').slice(1);
  const isValid = segments.every((part) => part !== '' && part !== '.' && part !== '..' && !UNPRINTABLE.test(part));
  if (!isValid) throw new RangeError(`"${chroot}" is not a chroot; write it as /a/b, without a slash at the end`);
  const server = segments.find((part) => HOST_AND_PORT.test(part));
  if (server === undefined) return;
  throw new RangeError(`"${server}" in the chroot "${chroot}" is a server; write a comma before it, not a slash`);
}

/**
 * The error for a chroot before the last server. ZooKeeper's own clients would take the servers after it for a part of
 * it.
 */
function chrootInside(text: string, parts: readonly Part[]): RangeError {
  const chroots = [...new Set(parts.map(({ chroot }) => chroot).filter((chroot) => chroot !== ''))];
  const servers = parts.map(({ server }) => server.trim()).join(',');
  const [first = ''] = chroots;
  const fix =
    chroots.length === 1
      ? `write "${servers}${first === '/' ? '' : first}"`
      : `write "${servers}" and then one chroot, not ${chroots.map((chroot) => `"${chroot}"`).join(' and ')}`;
  return new RangeError(`"${text}" has a chroot before its last server: it is one for all servers; ${fix}`);
}
