import { firstDifference } from '../difference.js';
import { readRecording, recordedLines } from '../recording.js';
import { groupNamed } from '../scenarios/groups.js';
import { EmbeddedProcess } from '../servers/embedded-process.js';
import { Stage } from '../stage/stage.js';
import { breakLibrary } from './broken-library.js';
import type { Defect } from './defect.js';

/** A server that does not answer for so long never will. */
const PATIENCE_MS = 3_000;

export interface Found {
  readonly scenario: string;
  readonly difference: string;
}

/** The first scenario of the defect's group in which a server that has it does something else, if there is one. */
export async function findDefect(defect: Defect): Promise<Found | undefined> {
  using broken = breakLibrary(defect);
  const { name, settings, scenarios } = groupNamed(defect.group);
  const recording = readRecording(name);
  await using server = await EmbeddedProcess.start(broken.lib, settings, PATIENCE_MS);
  for (const [scenario, script] of Object.entries(scenarios)) {
    const transcript = await Stage.play(server, script).catch((error: unknown) => [`! ${String(error)}`]);
    const difference = firstDifference(recordedLines(recording, scenario), transcript);
    // That it fell over shows that it was broken, but not that anybody looks at what the defect is about.
    if (difference !== undefined && !(await server.isUp())) throw new Error(`"${defect.name}" has ended the server`);
    if (difference !== undefined) return { scenario, difference };
  }
  return undefined;
}
