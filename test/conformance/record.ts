/**
 * Plays every scenario on a real ZooKeeper and records its behaviour: `npm run conformance:record -- [group …]`. A
 * change of the files is a change in ZooKeeper, or in the scenarios.
 */
import { playGroup } from './play-group.js';
import { readRecording, writeRecording } from './recording.js';
import type { Recording } from './recording.js';
import { recordedTable } from './report/recorded-table.js';
import { writeSection } from './report/section.js';
import { groupNamed, GROUPS } from './scenarios/groups.js';
import { startRealServer } from './servers/real-server.js';

const names = process.argv.slice(2);
for (const group of names.length === 0 ? GROUPS : names.map(groupNamed)) {
  await using server = await startRealServer(group.settings);
  const recording = await playGroup(group, server);
  writeRecording(group.name, recording);
  const lines = linesOf(recording);
  console.log(`${group.name}: ${recording.size} scenarios, ${lines.length} lines`);
  for (const line of lines.filter((one) => one.startsWith('!'))) console.log(`  ${line}`);
}
await writeSection(
  'recorded',
  recordedTable(GROUPS, ({ name }) => linesOf(readRecording(name)).length),
);

function linesOf(recording: Recording): string[] {
  return [...recording.values()].join('\n').split('\n');
}
