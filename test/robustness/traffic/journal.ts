import { openSync, writeSync } from 'node:fs';
import type { JournalEntry } from '../model/journal-entry.js';

/** What a worker writes down about itself. Each entry is with the kernel when `write` returns: `kill -9` takes none. */
export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  write(entry: JournalEntry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}
