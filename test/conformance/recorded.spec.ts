import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRecording } from './recording.js';
import { GROUPS } from './scenarios/groups.js';
import { startEmbeddedServer } from './servers/embedded-server.js';
import type { TestedServer } from './servers/tested-server.js';
import { Stage } from './stage/stage.js';

describe.each(GROUPS)('the embedded server behaves like ZooKeeper: $name', ({ name, settings, scenarios }) => {
  const recording = readRecording(name);
  let server: TestedServer;

  beforeAll(async () => {
    server = await startEmbeddedServer(settings);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('has a recording of every scenario, in the same order', () => {
    expect([...recording.keys()]).toEqual(Object.keys(scenarios));
    expect([...recording].filter(([, transcript]) => transcript === '' || /^!/m.test(transcript))).toEqual([]);
  });

  it.each(Object.entries(scenarios))('%s', async (scenario, script) => {
    const transcript = await Stage.play(server, script);
    expect(transcript.join('\n')).toBe(recording.get(scenario));
  });
});
