import { createInterface } from 'node:readline';

/** What a verb does. */
export type Handler = (params: never) => unknown;

interface Command {
  readonly id: number;
  readonly verb: string;
  readonly params: never;
}

/**
 * Does what the lines of the input say, until there are no more, each as soon as it comes: `{"id", "verb", "params"}` is
 * answered with `{"id", "value"}` or `{"id", "error"}`. The process ends when whoever started it is gone.
 */
export function runCommands(handlers: Readonly<Record<string, Handler>>): void {
  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => void carryOut(JSON.parse(line) as Command, handlers));
  input.on('close', () => process.exit(0));
}

async function carryOut({ id, verb, params }: Command, handlers: Readonly<Record<string, Handler>>): Promise<void> {
  const answer = await Promise.resolve()
    .then(() => {
      const handler = verb === 'ping' ? () => 'pong' : handlers[verb];
      if (!handler) throw new Error(`no verb ${verb}`);
      return handler(params);
    })
    .then(
      (value) => ({ id, value: value ?? null }),
      (error: unknown) => ({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
