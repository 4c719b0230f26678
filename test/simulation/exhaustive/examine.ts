import type { Edit } from '../../support/edit.js';
import { Planting } from '../instance/planting.js';
import { Bundle } from '../instance/bundle.js';
import type * as Servers from '../instance/servers.js';
import type { Program } from '../cluster/program.js';
import { ZooKeeperServers } from '../servers/zookeeper-servers.js';
import { Choices, writeChoices } from './choices.js';
import type { Bounds, Deviation } from './choices.js';
import { explore } from './explore.js';
import type { Explored } from './explore.js';
import type { ContenderOrders, HoldEntry } from './orders.js';
import type { Scenario } from './scenarios.js';
import { runSmall } from './small-run.js';
import type { SmallBackend, SmallOutcome } from './small-run.js';

/** The code that simulated processes run, as text. */
export interface SmallCode {
  readonly servers: string;
  readonly contender: string;
}

/** Bundles the compiled code. @param edits made in the contenders' library */
export async function bundleSmall(edits: readonly Edit[] = []): Promise<SmallCode> {
  return {
    servers: await Bundle.write('test/simulation/instance/servers'),
    contender: await Bundle.write('test/simulation/exhaustive/contender', new Planting(edits)),
  };
}

export function smallBackend(code: SmallCode): SmallBackend {
  const servers = new Bundle<typeof Servers>(code.servers, 'servers');
  return {
    program: new Bundle<Program<ContenderOrders, HoldEntry>>(code.contender, 'contender'),
    startServers: (site, plan, recorder) => ZooKeeperServers.start(servers, site, plan, recorder),
  };
}

/** A run with findings. */
export interface SmallFinding {
  readonly choices: string;
  readonly checks: string;
  readonly message: string;
}

/** The results of all runs of a scenario. Plain data. */
export interface SmallExamined extends Explored {
  readonly scenario: string;
  readonly states: number;
  /** The first findings only. */
  readonly findings: readonly SmallFinding[];
  /** The number of runs with findings. */
  readonly found: number;
  /** The number of points in the longest run. */
  readonly points: number;
  readonly granted: number;
  readonly cpuMs: number;
}

const MOST_FINDINGS = 5;

/** @param isEnough ends the search; called after each run */
export async function examineSmall(
  scenario: Scenario,
  backend: SmallBackend,
  bounds: Bounds = scenario.bounds,
  isEnough: (found: number, runs: number) => boolean = () => false,
): Promise<SmallExamined> {
  const startedAt = process.cpuUsage();
  const states = new Set<number>();
  const findings: SmallFinding[] = [];
  let [found, points, granted, runs] = [0, 0, 0, 0];
  const run = async (choices: Choices): Promise<void> => {
    const outcome = await runSmall(scenario, backend, choices, (state) => states.add(state));
    runs++;
    points = Math.max(points, choices.points);
    granted += outcome.granted;
    if (outcome.findings.length === 0) return;
    found++;
    if (findings.length < MOST_FINDINGS) findings.push(findingOf(choices.given, outcome));
  };
  const explored = await explore(bounds, run, () => isEnough(found, runs));
  const { user, system } = process.cpuUsage(startedAt);
  const cpuMs = (user + system) / 1_000;
  return { ...explored, scenario: scenario.name, states: states.size, findings, found, points, granted, cpuMs };
}

function findingOf(given: readonly Deviation[], { findings }: SmallOutcome): SmallFinding {
  const checks = [...new Set(findings.map(({ check }) => check))].join(', ');
  return { choices: writeChoices(given), checks, message: findings[0]?.message ?? '' };
}

/** Runs a scenario once, and keeps its story. */
export function replaySmall(
  scenario: Scenario,
  backend: SmallBackend,
  given: readonly Deviation[],
): Promise<SmallOutcome> {
  const bounds = {
    deviations: Infinity,
    faults: given.filter(({ kind }) => kind === 'fault').length,
    deviationsWithFaults: Infinity,
  };
  return runSmall(scenario, backend, new Choices(given, bounds), () => {}, true);
}
