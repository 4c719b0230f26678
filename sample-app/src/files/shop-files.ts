import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * The shop's database: files that all instances share. Each file is complete at any time; nothing else is guaranteed.
 * There are no transactions and no row locks: callers must protect the steps between a read and the following write.
 */
export class ShopFiles {
  constructor(private readonly dir: string) {}

  async find<T>(name: string): Promise<T | undefined> {
    const text = await readFile(this.pathOf(name), 'utf8').catch(ifMissing);
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }

  async read<T>(name: string): Promise<T> {
    const value = await this.find<T>(name);
    if (value === undefined) throw new Error(`there is no ${name}`);
    return value;
  }

  async write(name: string, value: unknown): Promise<void> {
    const path = await this.placeFor(name);
    const draft = `${path}.${randomUUID()}`;
    await writeFile(draft, JSON.stringify(value));
    await rename(draft, path);
  }

  /** Appends a line to a journal. */
  async append(journal: string, record: unknown): Promise<void> {
    await appendFile(await this.placeFor(journal), `${JSON.stringify(record)}\n`);
  }

  /** Returns all lines of a journal. */
  async records<T>(journal: string): Promise<readonly T[]> {
    const text = (await readFile(this.pathOf(journal), 'utf8').catch(ifMissing)) ?? '';
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  }

  private async placeFor(name: string): Promise<string> {
    const path = this.pathOf(name);
    await mkdir(dirname(path), { recursive: true });
    return path;
  }

  private pathOf(name: string): string {
    if (!/^[\w-]+(\/[\w-]+)*$/.test(name)) throw new Error(`not a name for a file: ${name}`);
    return join(this.dir, `${name}.json`);
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
