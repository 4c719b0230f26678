import { createInterface } from 'node:readline';

/** Asks for a line. The end of the input, as by Ctrl-D, is an empty one: without it nobody would ever answer. */
export function answerTo(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input, output });
    lines.once('close', () => resolve(''));
    lines.question(question, (line) => {
      resolve(line);
      lines.close();
    });
  });
}
