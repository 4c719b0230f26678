import { openSync, writeSync } from 'node:fs';
import type { JournalEntry } from '../model/journal-entry.js';

/** What a process writes down about itself. */
export interface Journal {
  write(entry: JournalEntry): void;
}

/** A journal that survives `kill -9`: each entry is with the kernel when `write` returns. */
export class FileJournal implements Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  write(entry: JournalEntry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}
