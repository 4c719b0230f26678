import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freeServerPorts } from '../../lib/testing/server-ports.js';
import { ServerProcess } from '../../lib/testing/server-process.js';
import type { Server } from './server.js';

export interface LoopbackServer {
  readonly program: string;
  /** The Debian package that contains the program. */
  readonly debianPackage: string;
  /** Returns its options, for a directory and two free ports. */
  settings(dir: string, ports: readonly [number, number]): Readonly<Record<string, string | number>>;
  /** Resolves with whether it serves at the first port. */
  serves(port: number): Promise<boolean>;
}

const START_WITHIN_MS = 30_000;

/** Starts a new server that does not outlive this process. @throws Error with its output, or what to install */
export async function startLoopback(server: LoopbackServer): Promise<Server> {
  const [port, other] = (await freeServerPorts(2)) as [number, number];
  const dir = mkdtempSync(join(tmpdir(), `${server.program}-`));
  const logFile = join(dir, 'server.log');
  const options = Object.entries(server.settings(dir, [port, other]));
  const argv = [server.program, ...options.flatMap(([name, value]) => [`--${name}`, `${value}`])] as const;
  const command = { argv, dataDir: dir, clientAddress: '127.0.0.1', clientPort: port };
  const running = new ServerProcess(command, { logFile, removeDir: dir });
  const stop = async () => {
    await running.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  for (const startedAt = performance.now(); !(await server.serves(port)); await pause(50)) {
    if (!running.hasExited && performance.now() - startedAt < START_WITHIN_MS) continue;
    const log = readFileSync(logFile, 'utf8').slice(-2_000);
    await stop();
    throw new Error(
      `${server.program} did not start (apt-get install ${server.debianPackage}, if it is not there)\n${log}`,
    );
  }
  return { address: `127.0.0.1:${port}`, counts: () => undefined, stop };
}
