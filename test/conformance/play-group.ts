import type { TestedServer } from './servers/tested-server.js';
import type { Group } from './scenarios/group.js';
import { Stage } from './stage/stage.js';

/** Plays all of a group's scenarios; the transcript of each under its name. */
export async function playGroup({ scenarios }: Group, server: TestedServer): Promise<ReadonlyMap<string, string>> {
  const transcripts = new Map<string, string>();
  for (const [name, script] of Object.entries(scenarios)) {
    transcripts.set(name, (await Stage.play(server, script)).join('\n'));
  }
  return transcripts;
}
