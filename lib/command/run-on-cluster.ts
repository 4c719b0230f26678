import { Logger } from '@nestjs/common';
import { LockUnavailableError } from '../contract/errors.js';
import { cron, leaders, list, queues, revoke, watch, who } from './cluster-commands.js';
import { onCluster } from './cluster.js';
import { parseClusterArguments } from './cluster.options.js';
import { jsonText, printable } from './command-io.js';
import type { CommandIo } from './command-io.js';
import { doctor } from './doctor.js';

const COMMANDS = { list, who, watch, revoke, leaders, cron, queues } as const;
const UNAVAILABLE = 2;

/** Runs one command on a cluster. Resolves with the exit code when it is done. */
export async function runOnCluster(command: string, args: readonly string[], io: CommandIo): Promise<number> {
  // The output is the command's own.
  Logger.overrideLogger(false);
  const isJson = args.includes('--json');
  try {
    const { options, words } = parseClusterArguments(args, io.env);
    if (command === 'doctor') return await doctor(options, io);
    const run = COMMANDS[command as keyof typeof COMMANDS];
    return await onCluster(options, (cluster) => run(cluster, words, options, io));
  } catch (error) {
    const isUnavailable = error instanceof LockUnavailableError;
    const message = error instanceof Error ? error.message : String(error);
    if (isJson) io.out(jsonText({ error: message, isUnavailable }));
    io.complain(`${printable(message)}\n`);
    return isUnavailable ? UNAVAILABLE : 1;
  }
}
