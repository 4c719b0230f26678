import { createInterface } from 'node:readline';

/** The function that executes a verb. */
export type Handler = (params: never) => unknown;

interface Command {
  readonly id: number;
  readonly verb: string;
  readonly params: never;
}

/**
 * Executes the commands of the input as they arrive, until it ends. The process ends when its parent process is gone.
 * A command `{"id", "verb", "params"}` is answered with `{"id", "value"}` or `{"id", "error"}`.
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
