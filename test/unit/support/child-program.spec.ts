import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { forkProgram, spawnProgram } from '../../support/child-program.js';
import type { ChildProgram } from '../../support/child-program.js';

interface Message {
  readonly number: number;
}

const ECHO = {
  forked: "process.on('message', (message) => process.send(message));",
  spawned: `console.log('a library prints'); console.log('{ even this }');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => console.log(line));`,
} as const;

const dir = mkdtempSync(join(tmpdir(), 'child-program-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Starts a program with these statements, which is killed with the test. */
function start(how: keyof typeof ECHO, statements: string): ChildProgram<Message, Message> {
  const script = join(dir, `${how}.cjs`);
  writeFileSync(script, statements);
  const program =
    how === 'forked'
      ? forkProgram<Message, Message>(script)
      : spawnProgram<Message, Message>('spawned.cjs', [process.execPath, script]);
  onTestFinished(() => program.kill());
  return program;
}

describe.each(['forked', 'spawned'] as const)('a program that is %s', (how) => {
  it('answers requests, also several at a time', async () => {
    const program = start(how, ECHO[how]);
    const ask = (number: number) => program.ask({ number }, 30_000, (said) => said.number === number);
    expect(await Promise.all([1, 2, 3].map(ask))).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
  });

  it('fails its requests with its output when it ends', async () => {
    const program = start(how, "process.stderr.write('some trouble'); setTimeout(() => process.exit(3), 100);");
    await expect(program.ask({ number: 1 })).rejects.toThrow(`${how}.cjs ended with 3\nsome trouble`);
    await expect(program.ask({ number: 2 })).rejects.toThrow('ended with 3');
    await expect(program.succeeded()).rejects.toThrow('ended with 3');
    expect(await program.ended()).toEqual({ code: 3, signal: null, output: 'some trouble' });
  });

  it('fails a request that it does not answer in time', async () => {
    const program = start(how, 'setInterval(() => {}, 1_000);');
    await expect(program.ask({ number: 1 }, 10)).rejects.toThrow(`${how}.cjs: no answer to { number: 1 } within 10 ms`);
    await expect(program.ended(10)).rejects.toThrow('still runs');
  });

  it('is killed at the end of a block', async () => {
    const program = start(how, 'setInterval(() => {}, 1_000);');
    {
      await using _killed = program;
    }
    expect(await program.ended()).toMatchObject({ signal: 'SIGKILL' });
    program.send({ number: 1 });
  });
});

it('a program that reads lines ends with its input', async () => {
  const program = start('spawned', ECHO.spawned);
  await program.ask({ number: 1 });
  program.endInput();
  await program.succeeded();
  expect(program.isRunning).toBe(false);
});

it('a program that cannot be started fails its requests', async () => {
  const program = spawnProgram('missing', [join(dir, 'missing')]);
  await expect(program.ask({})).rejects.toThrow(/missing ended with[^]*ENOENT/);
});
