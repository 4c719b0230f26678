export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ConnectString {
  readonly servers: readonly ServerAddress[];
  /** The path that every key lies under: '' or '/app'. */
  readonly chroot: string;
}

const DEFAULT_PORT = 2181;
const UNPRINTABLE = /[\u0000-\u0020\u007f-\u00a0]/u;
const SERVER = /^(?:\[(?<ipv6>[0-9a-fA-F:.%a-z]+)\]|(?<host>[^\s:[\]/]+))(?::(?<port>\d{1,5}))?$/;

/** Parses `host1:2181,host2,[::1]:2181/chroot`. @throws RangeError that says which part is wrong */
export function parseConnectString(text: string): ConnectString {
  const slash = text.indexOf('/');
  const hosts = slash < 0 ? text : text.slice(0, slash);
  const chroot = slash < 0 ? '' : text.slice(slash);
  return { servers: hosts.split(',').map(parseServer), chroot: checkChroot(chroot) };
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

function checkChroot(chroot: string): string {
  if (chroot === '' || chroot === '/') return '';
  const isValid = chroot
    .split('/')
    .slice(1)
    .every((part) => part !== '' && part !== '.' && part !== '..' && !UNPRINTABLE.test(part));
  if (!isValid) throw new RangeError(`"${chroot}" is not a chroot; write it as /a/b, without a slash at the end`);
  return chroot;
}
