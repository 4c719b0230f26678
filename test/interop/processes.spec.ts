import { describe, expect, it } from 'vitest';
import { startJava, startPython } from './support/start.js';

describe.each([
  ['Java', () => startJava('Ping'), /IllegalStateException: as asked for/],
  ['Python', () => startPython('ping'), /RuntimeError: as asked for/],
])('a program in %s', (_language, start, failure) => {
  it('answers each command, and reports why one failed', async () => {
    await using program = start();
    const params = { text: 'ümläut "quoted"\n', list: [1, true, null], number: 2 ** 52 };
    const answers = [program.call('ping'), program.call('echo', params), program.call('fail'), program.call('nothing')];
    const [ping, echo, fail, nothing] = await Promise.allSettled(answers);
    expect(ping).toMatchObject({ value: 'pong' });
    expect(echo).toMatchObject({ value: params });
    expect(fail).toMatchObject({ reason: { message: expect.stringMatching(failure) } });
    expect(nothing).toMatchObject({ reason: { message: expect.stringContaining('nothing') } });
  });

  it('rejects every call once it is killed', async () => {
    const program = start();
    await program.call('ping');
    await program.kill();
    await expect(program.call('ping')).rejects.toThrow(/ended with SIGKILL/);
    expect(() => process.kill(program.pid!, 0)).toThrow(/ESRCH/);
  });
});
