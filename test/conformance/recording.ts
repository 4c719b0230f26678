import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDED } from './places.js';

const HEADING = '## ';

/** The transcripts of a real server, by scenario. */
export type Recording = ReadonlyMap<string, string>;

export function writeRecording(group: string, recording: Recording): void {
  mkdirSync(RECORDED, { recursive: true });
  const text = [...recording].map(([name, transcript]) => `${HEADING}${name}\n\n${transcript}\n`).join('\n');
  writeFileSync(fileOf(group), text);
}

export function readRecording(group: string): Recording {
  const parts = readFileSync(fileOf(group), 'utf8')
    .split(new RegExp(`^${HEADING}`, 'm'))
    .slice(1);
  return new Map(
    parts.map((part) => {
      const [name = '', ...lines] = part.split('\n');
      return [name, lines.join('\n').trim()];
    }),
  );
}

/**
 * Returns the lines of a real server in one scenario. @throws Error when the recording of the scenario is missing or
 * empty
 */
export function recordedLines(recording: Recording, scenario: string): readonly string[] {
  const transcript = recording.get(scenario);
  if (!transcript) throw new Error(`"${scenario}" was not recorded`);
  return transcript.split('\n');
}

const fileOf = (group: string) => join(RECORDED, `${group}.txt`);
