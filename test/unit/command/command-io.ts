import { hostname } from 'node:os';
import type { CommandIo } from '../../../lib/command/command-io.js';

export interface Settings {
  readonly env?: CommandIo['env'];
  readonly signal?: AbortSignal;
  /** The time by which this machine's clock is ahead of its true time, in milliseconds. */
  readonly aheadMs?: number;
  /** The line that the user types. */
  readonly answer?: string | undefined;
}

/** The surroundings of a command in a test, and what it has written. */
export function commandIo({ env = {}, signal = new AbortController().signal, aheadMs = 0, answer }: Settings = {}) {
  let [said, complained, asked] = ['', '', ''];
  const io: CommandIo = {
    out: (text) => void (said += text),
    complain: (text) => void (complained += text),
    env,
    signal,
    now: () => Date.now() + aheadMs,
    ask: async (question) => {
      asked += question;
      return answer;
    },
  };
  return { ...io, written: () => ({ said, complained, asked }) };
}

/** The text without what differs from run to run. */
export function stable(text: string): string {
  return text
    .replaceAll(`${hostname()} ${process.pid}`, '<host> <pid>')
    .replaceAll(`"host": "${hostname()}"`, '"host": "<host>"')
    .replaceAll(/"pid": \d+/g, '"pid": 0')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\/commands-\w+/g, '<base path>')
    .replaceAll(/0x[0-9a-f]+/g, '<session>')
    .replaceAll(/\b\d+ (ms|s|min)(?= {2}|\n)/g, '<age>')
    .replaceAll(/ +/g, ' ');
}
