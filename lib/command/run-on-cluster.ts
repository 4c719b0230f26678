import { Logger } from '@nestjs/common';
import { LockUnavailableError } from '../contract/errors.js';
import { cron, leaders, list, losses, queues, revoke, watch, who } from './cluster-commands.js';
import { onCluster } from './cluster.js';
import { parseClusterArguments } from './cluster.options.js';
import { escaped, jsonText } from './command-io.js';
import type { CommandIo } from './command-io.js';
import { doctor } from './doctor.js';

const COMMANDS = { list, who, watch, revoke, leaders, cron, queues, losses } as const;
const UNAVAILABLE = 2;

const WITH_KEY = ['who', 'watch', 'revoke'];
const WITH_PREFIX = ['list', 'leaders', 'queues'];

/** Runs one command on a cluster. Resolves with the exit code when it is done. */
export async function runOnCluster(command: string, args: readonly string[], io: CommandIo): Promise<number> {
  // The output is the command's own.
  Logger.overrideLogger(false);
  const isJson = args.includes('--json');
  try {
    const { options, words } = parseClusterArguments(args, io.env);
    refuseWords(command, words);
    if (command === 'cron' && options.service === undefined)
      throw new Error('cron needs --service: jobs belong to the service of their module');
    if (command === 'doctor') return await doctor(options, io);
    const run = COMMANDS[command as keyof typeof COMMANDS];
    return await onCluster(options, (cluster) => run(cluster, words, options, io));
  } catch (error) {
    const isUnavailable = error instanceof LockUnavailableError;
    const message = error instanceof Error ? error.message : String(error);
    if (isJson) io.out(jsonText({ error: message, isUnavailable }));
    io.complain(`${escaped(message)}\n`);
    return isUnavailable ? UNAVAILABLE : 1;
  }
}

/** @throws Error for words that the command does not take. A server is not needed for that, and may be far. */
function refuseWords(command: string, words: readonly string[]): void {
  if (WITH_KEY.includes(command)) {
    if (words.length !== 1) throw new Error('name one key, such as orders/42');
    return;
  }
  const most = WITH_PREFIX.includes(command) ? 1 : 0;
  if (words.length <= most) return;
  throw new Error(`${command} takes ${most === 1 ? 'one prefix' : 'options'} only, got ${words.join(' ')}`);
}
