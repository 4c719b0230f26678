import { setMaxListeners } from 'node:events';
import { parseOptions, USAGE } from './driver/options.js';
import { provideServer } from './driver/lock-server.js';
import { perform } from './driver/performance.js';
import { bold, green, red } from './driver/style.js';
import { isRight, table } from './driver/table.js';
import type { Row } from './driver/table.js';
import { WarmProcess } from './driver/warm-process.js';
import { watch } from './driver/watch.js';

const INTERRUPTED = 130;
// No scene takes this long: a run that reaches the limit hangs.
const END_WITHIN_MS = 180_000;

async function run(): Promise<void> {
  const { help, watch: isWatched, sizes, server } = parseOptions(process.argv.slice(2));
  if (help) return console.log(USAGE);
  if (!isWatched) setTimeout(() => interrupted.abort(new Error('it took too long')), END_WITHIN_MS).unref();

  await using first = new WarmProcess();
  await using locks = await provideServer(server);
  signal.throwIfAborted();
  const { env } = locks;
  if (isWatched) return await watch(env, signal);
  console.log(`\n${bold('WITH LOCKS')}  five instances of the shop, the same files, ${locks.name}`);
  const { rows: locked, firstHeldMs = NaN } = await perform({ ...env, LOCKS: 'on' }, sizes, signal, first);
  console.log(`\n  The first lease was granted ${Math.round(firstHeldMs)} ms after this process began.`);
  console.log(
    `\n${bold('WITHOUT')}  the same code once more, with a backend that grants everybody everything (LOCKS=off)`,
  );
  const { rows: unlocked } = await perform({ ...env, LOCKS: 'off' }, sizes, signal);

  console.log(`\n${bold('With locks')}\n\n${table(locked)}`);
  console.log(`\n${bold('Without')}\n\n${table(unlocked)}`);
  console.log(`\n${verdict(locked, unlocked)}\n`);
  process.exitCode = locked.every(isRight) ? 0 : 1;
}

function verdict(locked: readonly Row[], unlocked: readonly Row[]): string {
  if (!locked.every(isRight)) return red('Something went wrong under locks: see the first table.');
  const wrong = unlocked.filter((row) => !isRight(row)).map(({ scene }) => scene.name);
  const without = wrong.length > 0 ? `Without them it did: ${wrong.join(', ')}.` : 'Without them, luck: run it again.';
  return `${green('With locks nothing went wrong.')} ${without}`;
}

/** Treats Ctrl-C like any other reason to stop, so that all started processes are ended. */
function interruption(): AbortController {
  const interrupted = new AbortController();
  // Everything that is still running listens to this signal.
  setMaxListeners(0, interrupted.signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.exitCode = INTERRUPTED;
      interrupted.abort(new Error('interrupted'));
    });
  }
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', () => interrupted.abort(new Error('nobody reads this any more')));
  }
  return interrupted;
}

const interrupted = interruption();
const { signal } = interrupted;
run().catch((error: unknown) => {
  const reason: unknown = signal.aborted ? signal.reason : error;
  console.error(`\n${reason instanceof Error ? reason.message : String(reason)}`);
  process.exitCode ??= 1;
});
