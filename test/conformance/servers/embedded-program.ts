/** Runs an embedded server of the compiled library that the first argument names, until its parent process is gone. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Testing from '../../../lib/testing/index.js';
import { startAlike } from './embedded-server.js';
import type { Report } from './embedded-process.js';

const [, , lib = '', settings = '{}'] = process.argv;
const tell = (report: Report) => process.send?.(report);

const { EmbeddedZooKeeper } = (await import(pathToFileURL(join(lib, 'testing', 'index.js')).href)) as typeof Testing;
const server = await startAlike(EmbeddedZooKeeper, JSON.parse(settings) as object);
process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  tell({ memory: heapUsed + external });
});
process.on('disconnect', () => process.exit());
tell({ port: server.port });
