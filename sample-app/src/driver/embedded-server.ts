import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

const PACKAGE = 'nestjs-distributed-lock';
// The instances ask for sessions of 10 seconds, which is the maximum of 20 ticks. The locks of a killed instance are
// free soon.
const FLAGS = ['--port', '0', '--tick-time', '500', '--until-stdin-ends'];

/** `npx nestjs-distributed-lock zookeeper` in its own process, which ends with this one, however this one ends. */
export class EmbeddedServer implements AsyncDisposable {
  private constructor(
    private readonly child: ChildProcess,
    readonly connectString: string,
    /** The server's description. */
    readonly banner: string,
  ) {}

  static async start(): Promise<EmbeddedServer> {
    const child = spawn(process.execPath, [command(), 'zookeeper', ...FLAGS], { stdio: ['pipe', 'pipe', 'inherit'] });
    const banner = await firstLine(child);
    const [, connectString] = / on (\S+:\d+)\./.exec(banner) ?? [];
    if (connectString) return new EmbeddedServer(child, connectString, banner);
    child.kill();
    throw new Error(`the embedded ZooKeeper does not say where it listens: ${banner}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.stdin?.end();
    await exited;
  }
}

/** The file that the package's command runs. */
function command(): string {
  const { resolve } = createRequire(import.meta.url);
  const manifest = resolve(`${PACKAGE}/package.json`);
  const { bin } = createRequire(import.meta.url)(manifest) as { readonly bin: Readonly<Record<string, string>> };
  return join(dirname(manifest), bin[PACKAGE] ?? '');
}

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface(child.stdout!);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the embedded ZooKeeper has ended (${String(code)})`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return line;
}
