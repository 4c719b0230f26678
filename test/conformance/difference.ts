const LINES_BEFORE = 6;

/** Returns the first difference of two transcripts with the lines before it, or `undefined`. */
export function firstDifference(expected: readonly string[], actual: readonly string[]): string | undefined {
  const at = expected.findIndex((line, place) => line !== actual[place]);
  const place = at < 0 && actual.length > expected.length ? expected.length : at;
  if (place < 0) return undefined;
  const before = expected.slice(Math.max(0, place - LINES_BEFORE), place).map((line) => `  ${line}`);
  return [...before, `- ${expected[place] ?? '(nothing more)'}`, `+ ${actual[place] ?? '(nothing more)'}`].join('\n');
}

/**
 * Returns the same transcript. @throws Error when it is incomplete: two servers that agree up to there prove nothing
 */
export function whole(transcript: readonly string[]): readonly string[] {
  const broken = transcript.find((line) => line.startsWith('!'));
  if (broken !== undefined) throw new Error(`it was not played to its end: ${broken}`);
  return transcript;
}
