import { describe, expect, it, onTestFinished } from 'vitest';
import { EmbeddedZooKeeper } from '../../lib/testing/index.js';
import { NodeZooKeeperClient } from '../../lib/zookeeper/client/node-zookeeper-client.js';
import type { ClientListener, ZooKeeperClient } from '../../lib/zookeeper/client/zookeeper-client.js';
import { campaignIn } from '../../lib/zookeeper/election/leader-election.js';
import type { LockDirectory } from '../../lib/zookeeper/recipes/lock-directory.js';
import { SessionSupervisor } from '../../lib/zookeeper/session/session-supervisor.js';

const REQUESTS = ['create', 'multi', 'children', 'read', 'sync', 'delete', 'watch'] as const;
const ACL = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const GIVEN_UP = new Error('given up');

/** Calls back at every step of a client: before a request is sent, and after it is answered. */
class Steps {
  listener: () => void = () => {};
  #underWay = 0;

  of(client: ZooKeeperClient): ZooKeeperClient {
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const bound = member.bind(target) as (...of: unknown[]) => unknown;
        return (REQUESTS as readonly unknown[]).includes(name)
          ? (...of: unknown[]) => this.#ask(() => bound(...of))
          : bound;
      },
    });
  }

  /** Resolves when every request was answered and causes no further request. */
  async quiet(): Promise<void> {
    for (let quietTurns = 0; quietTurns < 3; quietTurns++) {
      await new Promise(setImmediate);
      if (this.#underWay > 0) quietTurns = 0;
    }
  }

  async #ask(send: () => unknown): Promise<unknown> {
    this.#underWay++;
    this.listener();
    try {
      return await send();
    } finally {
      this.#underWay--;
      this.listener();
    }
  }
}

async function startCampaigns() {
  const server = await EmbeddedZooKeeper.start();
  const steps = new Steps();
  const servers = [{ host: '127.0.0.1', port: server.port }];
  const open = (listener: ClientListener) =>
    steps.of(new NodeZooKeeperClient({ servers, sessionTimeoutMs: 4_000, auth: [] }, listener));
  const sessions = new SessionSupervisor(open, 20_000);
  onTestFinished(() => sessions.close().then(() => server.stop()));
  const session = await sessions.session();
  const campaign = (name: string, signal: AbortSignal, wait = true) => {
    const directory: LockDirectory = {
      path: `/locks/${name}`,
      acl: ACL,
      parents: 'container',
      releaseTimeoutMs: 1_000,
    };
    return campaignIn(session, directory, { key: name, mode: 'exclusive', line: 'fifo', wait, signal });
  };
  const left = () => server.paths('/locks').filter((path) => server.ownerOf(path) !== undefined);
  return { steps, campaign, left };
}

type Campaigns = Awaited<ReturnType<typeof startCampaigns>>;

/** Runs a campaign that is given up at a step. Returns the number of steps; the given step may never be reached. */
async function campaignGivenUpAt({ steps, campaign }: Campaigns, step: number, name: string): Promise<number> {
  const abort = new AbortController();
  let taken = 0;
  steps.listener = () => {
    if (taken++ === step) abort.abort(GIVEN_UP);
  };
  const won = await campaign(name, abort.signal).catch((error: unknown) => {
    expect(error).toBe(GIVEN_UP);
  });
  const tookUntilWon = taken;
  await won?.lease.release();
  await steps.quiet();
  return tookUntilWon;
}

describe('a campaign that is given up in its first round trips', () => {
  it.each(['cold', 'warm'] as const)('leaves no znode, whatever is under way then: %s', async (state) => {
    const campaigns = await startCampaigns();
    const nameOf = (step: number) => (state === 'warm' ? 'poller' : `poller/${step}`);
    const steps = await campaignGivenUpAt(campaigns, Infinity, nameOf(-1));
    expect(steps).toBeGreaterThan(4);

    for (let step = 0; step < steps; step++) {
      await campaignGivenUpAt(campaigns, step, nameOf(step));
      expect(campaigns.left(), `left when given up at step ${step}`).toEqual([]);
      const next = await campaigns.campaign(nameOf(step), new AbortController().signal, false);
      expect(next?.lease.isHeld()).toBe(true);
      await next?.lease.release();
    }
  });
});
