import { randomUUID } from 'node:crypto';
import { EtcdServer } from '../../../lib/testing/index.js';
import type { EtcdServerOptions } from '../../../lib/testing/index.js';
import { freeServerPorts } from '../../../lib/testing/server-ports.js';

interface MemberPorts {
  readonly place: number;
  /** The port for clients. */
  readonly port: number;
  /** The port on which the member listens for the others. */
  readonly peerPort: number;
  /** A port for what a test wants. */
  readonly extraPort: number;
}

/** Flags of each member, and the port that the others reach it by. */
interface Setting {
  readonly flags?: (member: MemberPorts) => NonNullable<EtcdServerOptions['flags']>;
  readonly reachedBy?: (member: MemberPorts) => Promise<number>;
}

/** Starts a cluster of three whose members differ in their flags. */
export async function startMembers({ flags, reachedBy }: Setting): Promise<readonly EtcdServer[]> {
  const ports = await freeServerPorts(9);
  const members = [0, 1, 2].map((place): MemberPorts => {
    const [port = 0, peerPort = 0, extraPort = 0] = ports.slice(3 * place, 3 * place + 3);
    return { place, port, peerPort, extraPort };
  });
  const reached = await Promise.all(members.map((one) => reachedBy?.(one) ?? one.peerPort));
  const url = (port: number | undefined) => `http://127.0.0.1:${port}`;
  const token = randomUUID();
  return Promise.all(
    members.map((member) =>
      EtcdServer.start({
        port: member.port,
        flags: {
          name: `member${member.place}`,
          'listen-peer-urls': url(member.peerPort),
          'initial-advertise-peer-urls': url(reached[member.place]),
          'initial-cluster': reached.map((port, place) => `member${place}=${url(port)}`).join(','),
          'initial-cluster-token': token,
          ...flags?.(member),
        },
      }),
    ),
  );
}
