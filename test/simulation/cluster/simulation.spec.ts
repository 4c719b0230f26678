import { describe, expect, it, onTestFinished } from 'vitest';
import { Bundle } from '../instance/bundle.js';
import type { Plan } from '../plan/plan.js';
import type { SimulatedServers } from '../servers/simulated-servers.js';
import type { Program } from './program.js';
import { simulate } from './simulation.js';
import type { Run } from './simulation.js';

interface Orders {
  /** The mistake of the first process of the first application, half a second after its start. */
  readonly mistake: string;
}

interface Noted {
  readonly what: string;
}

const PROGRAM = `
  const MISTAKES = {
    none: () => {},
    'slow end': () => {},
    timer: () => { throw new TypeError('on purpose'); },
    tick: () => process.nextTick(() => { throw new TypeError('on purpose'); }),
    listener: () => new (require('node:events'))().emit('error', new TypeError('on purpose')),
    rejection: () => void Promise.reject(new TypeError('on purpose')),
  };
  exports.startProgram = async ({ process: name, orders, record }) => {
    if (name === 'app-1.1') setTimeout(MISTAKES[orders.mistake], 500);
    setTimeout(() => record({ what: 'went on' }), 1_000);
    const finish = async () => {
      if (orders.mistake === 'slow end') await new Promise((resolve) => setTimeout(resolve, 100));
      record({ what: 'finished' });
    };
    return { finish, close: async () => {} };
  };`;

const SERVERS: SimulatedServers = {
  connectString: '',
  ports: [],
  made: [],
  wakeUps: [],
  break: () => undefined,
  heal: () => {},
  earliestEndMs: () => undefined,
  closeSession: () => false,
  deleteNodeOf: () => undefined,
  owners: () => new Map(),
  leftovers: () => [],
};

const PLAN: Omit<Plan, 'traffic'> = {
  seed: 1,
  seconds: 2,
  faults: [],
  without: [],
  world: {
    servers: 1,
    apps: 2,
    sessionTimeoutMs: 4_000,
    serverTimeoutsMs: [4_000],
    tickTimeMs: 500,
    containerCheckIntervalMs: 60_000,
    link: { meanUs: 500, slowShare: 0, slowUs: 0 },
    peerDelayMs: [0, 1],
    electionMs: [1, 1],
    syncLimitMs: [2_500, 2_500],
    expiryDelayMs: [0, 500],
    callbackUs: 0,
    clockRates: [1, 1],
    wallSkewsMs: [0, 0],
  },
};

/** Runs two applications that only use timers. */
function run(mistake: string, faults: Plan['faults'] = []): Promise<Run<Noted>> {
  return simulate<Orders, Noted>(
    { ...PLAN, faults, traffic: { mistake } },
    {
      startServers: async () => SERVERS,
      program: new Bundle<Program<Orders, Noted>>(PROGRAM, 'program'),
      kindOf: ({ what }) => what,
      keptMs: () => 0,
      mayStay: () => () => false,
    },
  );
}

/** Keeps exceptions and rejections of the simulated program away from the test runner. */
function leaveToTheSimulation(event: 'uncaughtException' | 'unhandledRejection'): void {
  const others = process.listeners(event as 'uncaughtException');
  process.removeAllListeners(event);
  onTestFinished(() => others.forEach((listener) => process.on(event, listener)));
}

const told = ({ recorded }: Run<Noted>) => recorded.map(({ process, entry }) => `${process} ${entry.what}`);

describe('a simulated application', () => {
  it('ends by itself', async () => {
    const made = await run('none');
    expect(made.findings).toEqual([]);
    expect(told(made)).toEqual(['app-1.1 went on', 'app-2.1 went on', 'app-1.1 finished', 'app-2.1 finished']);
    expect(made.ends.map(({ process, end }) => [process, end])).toEqual([
      ['app-1.1', 'exited'],
      ['app-2.1', 'exited'],
    ]);
  });

  it('is not hit while it finishes by faults that were planned for later', async () => {
    const made = await run('slow end', [{ kind: 'crash', atMs: 2_050, forMs: 500, app: 0 }]);
    expect(made.findings).toEqual([]);
    expect(made.ends.map(({ process, end }) => [process, end])).toEqual([
      ['app-1.1', 'exited'],
      ['app-2.1', 'exited'],
    ]);
  });

  it.each(['timer', 'tick', 'listener'])(
    'is killed and reported when an exception is not caught: %s',
    async (mistake) => {
      leaveToTheSimulation('uncaughtException');
      const made = await run(mistake);
      expect(made.findings).toEqual([
        {
          check: 'processes',
          message: expect.stringMatching(/^uncaught exception in app-1\.1: TypeError: on purpose\n/),
          records: [],
        },
      ]);
      // The killed process runs no more. The application starts once more at the end, and the others continue.
      expect(told(made)).toEqual(['app-2.1 went on', 'app-1.2 finished', 'app-2.1 finished']);
      expect(made.ends.map(({ process, end }) => [process, end])).toEqual([
        ['app-1.1', 'killed by a fault'],
        ['app-1.2', 'exited'],
        ['app-2.1', 'exited'],
      ]);
    },
  );

  it('is reported when a rejection is not handled', async () => {
    leaveToTheSimulation('unhandledRejection');
    expect((await run('rejection')).findings).toMatchObject([
      { check: 'processes', message: expect.stringMatching(/^unhandled rejection in app-1\.1: TypeError: on purpose/) },
    ]);
  });

  it('leaves no listener behind', async () => {
    const before = process.listeners('uncaughtException').length;
    await run('none');
    expect(process.listeners('uncaughtException')).toHaveLength(before);
  });
});
