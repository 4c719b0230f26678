import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConnectString } from '../../../../lib/zookeeper/client/connect-string.js';

const server = (host: string, port = 2181) => ({ host, port });

describe('a connect string', () => {
  it.each([
    ['zk1', [server('zk1')]],
    ['zk1:2182', [server('zk1', 2182)]],
    ['zk1:2181,zk2:2182,zk3', [server('zk1'), server('zk2', 2182), server('zk3')]],
    [' zk1:2181 , zk2 ', [server('zk1'), server('zk2')]],
    ['10-0-0-1.example.org:1', [server('10-0-0-1.example.org', 1)]],
    ['127.0.0.1:65535', [server('127.0.0.1', 65_535)]],
    ['[::1]', [server('::1')]],
    ['[::1]:2182,zk2', [server('::1', 2182), server('zk2')]],
    ['[fe80::1%eth0]:2181', [server('fe80::1%eth0')]],
    ['[::ffff:127.0.0.1]:2181', [server('::ffff:127.0.0.1')]],
  ])('lists servers: %s', (text, servers) => {
    expect(parseConnectString(text)).toEqual({ servers, chroot: '' });
  });

  it.each([
    ['zk1/app', '/app'],
    ['zk1:2181,zk2:2181/a/b', '/a/b'],
    ['[::1]:2181/app', '/app'],
    ['zk1/', ''],
    ['zk1', ''],
    ['zk1/.hidden/...', '/.hidden/...'],
  ])('may end in a chroot: %s', (text, chroot) => {
    expect(parseConnectString(text).chroot).toBe(chroot);
  });

  it('keeps the order and the number of the servers', () => {
    const hosts = fc.domain();
    const address = fc.record({ host: hosts, port: fc.integer({ min: 1, max: 65_535 }) });
    fc.assert(
      fc.property(fc.array(address, { minLength: 1, maxLength: 7 }), (servers) => {
        const text = servers.map(({ host, port }) => `${host}:${port}`).join(',');
        expect(parseConnectString(text).servers).toEqual(servers);
      }),
    );
  });
});

describe('a wrong connect string', () => {
  it.each([
    ['', '""'],
    [' ', '" "'],
    ['zk1,', '""'],
    [',zk1', '""'],
    ['zk1,,zk2', '""'],
    [':2181', '":2181"'],
    ['zk1:', '"zk1:"'],
    ['zk1:0', '"zk1:0"'],
    ['zk1:65536', '"zk1:65536"'],
    ['zk1:123456', '"zk1:123456"'],
    ['zk1:abc', '"zk1:abc"'],
    ['zk1:-1', '"zk1:-1"'],
    ['zk1:2181:2182', '"zk1:2181:2182"'],
    ['::1', '"::1"'],
    ['::1:2181', '"::1:2181"'],
    ['[::1', '"[::1"'],
    ['[]:2181', '"[]:2181"'],
    ['[::1]2181', '"[::1]2181"'],
    ['zk 1:2181', '"zk 1:2181"'],
    ['good:2181,bad:x,fine', '"bad:x"'],
    ['/app', '""'],
  ])('is refused with the part that is not a server: %j', (text, part) => {
    const parsing = () => parseConnectString(text);
    expect(parsing).toThrow(RangeError);
    expect(parsing).toThrow(`${part} is not a server; write host, host:port or [ipv6]:port`);
  });

  it.each(['zk1/app/', 'zk1//app', 'zk1/a//b', 'zk1/./a', 'zk1/a/..', 'zookeeper://zk1:2181'])(
    'is refused for its chroot or its protocol: %s',
    (text) => {
      expect(() => parseConnectString(text)).toThrow(/^"(\/.*|zookeeper:)" is not a (chroot|server); write /);
    },
  );
});

describe('a chroot that is not behind the last server only', () => {
  it.each([
    ['a:2181/app,b:2181/app', 'write "a:2181,b:2181/app"'],
    ['a:2181/app,b:2181', 'write "a:2181,b:2181/app"'],
    ['a:2181,b:2181/app/x,c', 'write "a:2181,b:2181,c/app/x"'],
    ['a:2181/app, b:2181/app', 'write "a:2181,b:2181/app"'],
    ['[::1]:2181/app,[::2]:2181/app', 'write "[::1]:2181,[::2]:2181/app"'],
    ['a/,b', 'write "a,b"'],
    ['a/app,v2', 'write "a,v2/app"'],
    ['a:2181/one,b:2181/two', 'write "a:2181,b:2181" and then one chroot, not "/one" and "/two"'],
    ['a/one,b,c/two', 'write "a,b,c" and then one chroot, not "/one" and "/two"'],
  ])('is refused, with the right form: %s', (text, fix) => {
    const parsing = () => parseConnectString(text);
    expect(parsing).toThrow(RangeError);
    expect(parsing).toThrow(`"${text}" has a chroot before its last server: it is one for all servers; ${fix}`);
  });

  it.each([
    ['a:2181/b:2181', 'b:2181', '/b:2181'],
    ['a/app/[::1]:2181', '[::1]:2181', '/app/[::1]:2181'],
    ['a,b/c:1/app', 'c:1', '/c:1/app'],
  ])('is refused when a server is in the chroot: %s', (text, server, chroot) => {
    const message = `"${server}" in the chroot "${chroot}" is a server; write a comma before it, not a slash`;
    expect(() => parseConnectString(text)).toThrow(message);
  });
});
