import type { RecordStore, StoredRecord } from '../contract/record-store.js';
import { decodeMarker, encodeMarker, markerName, markerNames } from './marker.js';
import type { Marker } from './marker.js';

/** A job's marker as it was read or written, and what must still be so for the next write. */
export interface Marked {
  readonly marker: Marker | undefined;
  readonly version: number | 'absent';
  /** When it was written last, in milliseconds on the servers' clock. */
  readonly writtenAt: number;
}

const NOTHING: Marked = { marker: undefined, version: 'absent', writtenAt: -Infinity };

/** The markers of all jobs of a connection, kept beside its locks. */
export class Markers {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  async read(key: string): Promise<Marked> {
    return marked(await this.#records.read(markerName(key)));
  }

  async readAll(): Promise<readonly Marker[]> {
    const names = await markerNames((folder) => this.#records.list(folder));
    const records = await Promise.all(names.map((name) => this.#records.read(name)));
    return records.map((record) => marked(record).marker).filter((marker) => marker !== undefined);
  }

  /** Writes unless somebody else has since; `undefined` then. */
  async write(marker: Marker, { version }: Marked): Promise<Marked | undefined> {
    const change = { name: markerName(marker.key), value: encodeMarker(marker), ifVersion: version };
    const write = await this.#records.write([change]);
    return write.isApplied ? marked(write.records[0]) : undefined;
  }

  /** @returns whether there was one */
  async remove(key: string): Promise<boolean> {
    const { version } = await this.read(key);
    if (version === 'absent') return false;
    await this.#records.write([{ name: markerName(key), value: undefined }]);
    return true;
  }
}

function marked(record: StoredRecord | undefined): Marked {
  if (!record) return NOTHING;
  return { marker: decodeMarker(record), version: record.version, writtenAt: record.writtenAt.getTime() };
}
