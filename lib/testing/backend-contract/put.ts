import type { RecordStore, StoredRecord } from '../../contract/record-store.js';

/** Writes one record, whatever its present value. @throws Error when it is not written */
export async function put(records: RecordStore, name: string, value: string): Promise<StoredRecord> {
  const write = await records.write([{ name, value }]);
  if (!write.isApplied || !write.records[0]) throw new Error(`not written: ${name}`);
  return write.records[0];
}
