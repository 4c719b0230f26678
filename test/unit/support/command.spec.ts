import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';

const COMMAND = new URL('../../../scripts/support/command.mjs', import.meta.url).href;

/** A command that has started another one. It counts its signals, and takes its time for its end. */
const STARTED = `
  const below = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)']);
  let signals = 0;
  process.on('SIGINT', () => signals++);
  below.once('exit', () => setTimeout(() => { console.log('signals ' + signals); process.exit(3); }, 100));
  console.log('pids ' + process.pid + ' ' + below.pid);
`;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it('a script that gets a signal alone passes it on, once, and ends by it when its command has ended', async () => {
  const script = `
    import { run } from '${COMMAND}';
    await run('a command', [process.execPath, '-e', ${JSON.stringify(STARTED)}], { inOwnGroup: true });
    console.log('goes on');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  const pids = new Promise<readonly number[]>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      if (line.startsWith('pids ')) resolve(line.split(' ').slice(1).map(Number));
    });
  });
  const started = await pids;
  onTestFinished(() => started.filter(isAlive).forEach((pid) => process.kill(pid, 'SIGKILL')));
  const ended = once(child, 'close');
  child.kill('SIGINT');
  expect(await ended).toEqual([null, 'SIGINT']);
  expect(started.filter(isAlive)).toEqual([]);
  expect(lines.slice(-1)).toEqual(['signals 1']);
});
