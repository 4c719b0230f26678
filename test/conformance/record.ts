/**
 * Plays every scenario on a real ZooKeeper and writes down what it did: `npm run conformance:record -- [group …]`.
 * What changes in the files is a change of ZooKeeper's, or of the scenarios.
 */
import { playGroup } from './play-group.js';
import { writeRecording } from './recording.js';
import { groupNamed, GROUPS } from './scenarios/groups.js';
import { startRealServer } from './servers/real-server.js';

const names = process.argv.slice(2);
for (const group of names.length === 0 ? GROUPS : names.map(groupNamed)) {
  await using server = await startRealServer(group.settings);
  const recording = await playGroup(group, server);
  writeRecording(group.name, recording);
  const lines = [...recording.values()].join('\n').split('\n');
  console.log(`${group.name}: ${recording.size} scenarios, ${lines.length} lines`);
  for (const line of lines.filter((one) => one.startsWith('!'))) console.log(`  ${line}`);
}
