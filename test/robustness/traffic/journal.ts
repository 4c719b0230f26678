import { openSync, writeSync } from 'node:fs';
import type { JournalEntry } from '../model/journal-entry.js';

/** The journal in which a process records its own history. */
export interface Journal {
  write(entry: JournalEntry): void;
}

/** A journal that survives `kill -9`: the kernel has each entry when `write` returns. */
export class FileJournal implements Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  write(entry: JournalEntry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  }
}
