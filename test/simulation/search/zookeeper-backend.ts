import type { Edit } from '../../support/edit.js';
import { Bundle } from '../instance/bundle.js';
import { SHORTCUT_SWITCHES } from '../../support/shortcuts.js';
import { Planting } from '../instance/planting.js';
import type * as Servers from '../instance/servers.js';
import type { Program } from '../cluster/program.js';
import type { Entry } from '../model/entry.js';
import { ZooKeeperServers } from '../servers/zookeeper-servers.js';
import type { TrafficOrders } from '../traffic/orders.js';
import type { Backend } from './examine.js';

/** The code that simulated processes run, as text. It is bundled once, for all searcher processes. */
export interface Code {
  readonly servers: string;
  readonly client: string;
}

/**
 * Bundles the compiled code, with these edits.
 * @throws Error when an edit has no place in the bundled code
 */
export async function bundleAll(edits: readonly Edit[] = []): Promise<Code> {
  const planting = new Planting([...edits, ...SHORTCUT_SWITCHES]);
  const code = {
    servers: await Bundle.write('test/simulation/instance/servers', planting),
    client: await Bundle.write('test/simulation/instance/client', planting),
  };
  planting.checkAllMade();
  return code;
}

/**
 * A session keeps watching the directory of a lock that it has acquired several times in a row: docs/recipes/mutex.md.
 */
const DIRECTORY_WATCH = /^a watch on \S*\/[^/_]+ of /;

export function zookeeperBackend(code: Code): Backend {
  const servers = new Bundle<typeof Servers>(code.servers, 'servers');
  return {
    program: new Bundle<Program<TrafficOrders, Entry>>(code.client, 'client'),
    startServers: (site, plan, recorder) => ZooKeeperServers.start(servers, site, plan, recorder),
    kindOf,
    keptMs: ({ module }) => module.keepMs,
    mayStay:
      ({ programs }) =>
      (what) =>
        // An application with a method of `@LeaderOnly` campaigns until it ends.
        (programs.leader !== undefined && what.includes('/%elections/')) || DIRECTORY_WATCH.test(what),
  };
}

function kindOf(entry: Entry): string {
  if (entry.what === 'return') return `returned ${entry.answer.outcome}`;
  if (entry.what === 'call') return `call ${entry.call.on}`;
  if (entry.what === 'ended') return `ended ${entry.how}`;
  return 'outcome' in entry ? `${entry.what} ${entry.outcome}` : entry.what;
}
