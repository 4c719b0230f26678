import { badKey } from '../contract/key.js';
import type { RecordStore, StoredRecord } from '../contract/record-store.js';
import type { LockConnection } from '../service/lock-connection.js';
import { isAbsolute } from '../service/service-names.js';
import { decodeMarker, encodeMarker, markerFolder, markerName } from './marker.js';
import type { Marker } from './marker.js';

/** A job's marker as it was read or written, and the version that the next write requires. */
export interface Marked {
  readonly marker: Marker | undefined;
  readonly version: number | 'absent';
  /** The time of the last write, in milliseconds on the servers' clock. */
  readonly writtenAt: number;
}

// In bytes. It leaves room for a base path in a ZooKeeper path.
const LONGEST_NAME = 900;

const NOTHING: Marked = { marker: undefined, version: 'absent', writtenAt: -Infinity };

/**
 * The markers of the jobs of one service, kept beside the locks of its connection. Markers of jobs whose key is a path
 * are shared by all services. Every call throws LockConfigurationError for a job that needs a service when none is set.
 */
export class Markers {
  readonly #connection: LockConnection;

  constructor(connection: LockConnection) {
    this.#connection = connection;
  }

  /** @throws LockConfigurationError when the record of the job would be too long to be written */
  check(key: string): void {
    const { length } = encodeURIComponent(this.#nameOf(key));
    const why = `is too long to remember its runs by: ${length} bytes where ${LONGEST_NAME} fit; choose a shorter one`;
    if (length > LONGEST_NAME) throw badKey(key, why, 'the key of a job');
  }

  async read(key: string): Promise<Marked> {
    return marked(await this.#records.read(this.#nameOf(key)));
  }

  async readAll(): Promise<readonly Marker[]> {
    const service = this.#connection.names.required('CronRunsService');
    const folders = await Promise.all([service, undefined].map((of) => this.#readFolder(markerFolder(of))));
    return folders.flat();
  }

  /** Writes the marker unless it has been written since it was read; returns `undefined` in that case. */
  async write(marker: Marker, { version }: Marked): Promise<Marked | undefined> {
    const change = { name: this.#nameOf(marker.key), value: encodeMarker(marker), ifVersion: version };
    const write = await this.#records.write([change]);
    return write.isApplied ? marked(write.records[0]) : undefined;
  }

  /** @returns whether there was one */
  async remove(key: string): Promise<boolean> {
    const { version } = await this.read(key);
    if (version === 'absent') return false;
    await this.#records.write([{ name: this.#nameOf(key), value: undefined }]);
    return true;
  }

  async #readFolder(folder: string): Promise<readonly Marker[]> {
    const segments = await this.#records.list(folder);
    const records = await Promise.all(segments.map((segment) => this.#records.read(`${folder}/${segment}`)));
    return records.map((record) => marked(record).marker).filter((marker) => marker !== undefined);
  }

  get #records(): RecordStore {
    return this.#connection.backend.records;
  }

  #nameOf(key: string): string {
    const service = isAbsolute(key) ? undefined : this.#connection.names.required(`the job "${key}"`);
    return markerName(markerFolder(service), key);
  }
}

function marked(record: StoredRecord | undefined): Marked {
  if (!record) return NOTHING;
  return { marker: decodeMarker(record), version: record.version, writtenAt: record.writtenAt.getTime() };
}
