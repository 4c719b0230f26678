import type { TestedServer } from './servers/tested-server.js';
import type { Group } from './scenarios/group.js';
import { Stage } from './stage/stage.js';

/** Plays all scenarios of a group. Returns the transcript of each by its name. */
export async function playGroup({ scenarios }: Group, server: TestedServer): Promise<ReadonlyMap<string, string>> {
  const transcripts = new Map<string, string>();
  for (const [name, script] of Object.entries(scenarios)) {
    transcripts.set(name, (await Stage.play(server, script)).join('\n'));
  }
  return transcripts;
}
