import { firstDifference } from '../difference.js';
import { readRecording, recordedLines } from '../recording.js';
import { groupNamed } from '../scenarios/groups.js';
import { EmbeddedProcess } from '../servers/embedded-process.js';
import { Stage } from '../stage/stage.js';
import { breakLibrary } from './broken-library.js';
import type { Defect } from './defect.js';

/** A server that has not answered by then never will. */
const PATIENCE_MS = 3_000;

export interface Found {
  readonly scenario: string;
  readonly difference: string;
}

/** Returns the first scenario of the defect's group in which a server with the defect differs, if there is one. */
export async function findDefect(defect: Defect): Promise<Found | undefined> {
  using broken = breakLibrary(defect);
  const { name, settings, scenarios } = groupNamed(defect.group);
  const recording = readRecording(name);
  await using server = await EmbeddedProcess.start(broken.lib, settings, PATIENCE_MS);
  for (const [scenario, script] of Object.entries(scenarios)) {
    const transcript = await Stage.play(server, script).catch((error: unknown) => [`! ${String(error)}`]);
    const difference = firstDifference(recordedLines(recording, scenario), transcript);
    // A crash shows that the server was broken, but not that a scenario covers the subject of the defect.
    if (difference !== undefined && !(await server.isUp())) throw new Error(`"${defect.name}" has ended the server`);
    if (difference !== undefined) return { scenario, difference };
  }
  return undefined;
}
