import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../lib/command/run-command.js';
import { unusedPort } from '../../support/unused-port.js';
import { commandIo } from './command-io.js';

const COMMAND = /nestjs-distributed-lock ((?:list|who|watch|revoke|leaders|cron|queues|losses|doctor)\b[^`\n#]*)/g;

describe.each(['commands', 'operations'])('the commands in docs/%s.md', (page) => {
  const text = readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), 'utf8');
  const commands = [...text.matchAll(COMMAND)].map(([, line = '']) => line.replace(' [prefix]', '').trim());

  it('are many', () => expect(commands.length).toBeGreaterThan(5));

  it.each([...new Set(commands)])('%s: is refused for nothing but the missing server', async (line) => {
    const nobody = `127.0.0.1:${await unusedPort()}`;
    const io = commandIo();
    const own = line.replaceAll(/\b(?:redis|sentinel)-\d:\d+/g, nobody);
    const connect = own === line ? ['--connect', nobody] : [];
    const code = await runCommand([...own.split(/\s+/), ...connect, '--timeout', '50ms'], io);
    expect([code, io.written().complained]).toEqual([2, expect.stringContaining('50 ms')]);
  });
});
