import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LOG_TAIL_LINES = 30;

/** A server's directory: configuration, data and log. */
export class ServerFiles {
  readonly dir: string;
  /** Whether the caller named no directory, so that this one is removed with the server. */
  readonly isTemporary: boolean;

  /** @param prefix start of the name of a temporary directory */
  constructor(dir: string | undefined, prefix = 'zookeeper-') {
    this.isTemporary = dir === undefined;
    this.dir = dir ?? mkdtempSync(join(tmpdir(), prefix));
    mkdirSync(join(this.dir, 'data'), { recursive: true });
  }

  get logFile(): string {
    return join(this.dir, 'server.log');
  }

  logTail(): string {
    return readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
  }

  writeConfig(text: string): void {
    this.write('zoo.cfg', text);
  }

  /** Writes a file to the server's directory and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.dir, name);
    writeFileSync(path, text);
    return path;
  }

  removeIfTemporary(): void {
    if (this.isTemporary) rmSync(this.dir, { recursive: true, force: true });
  }
}
