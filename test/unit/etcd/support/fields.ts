import { FieldWriter } from '../../../../lib/etcd/wire/protobuf.js';

/** Fields one by one, of which tests make the answers of servers. */
function fieldOf(write: (writer: FieldWriter) => void): Buffer {
  const writer = new FieldWriter();
  write(writer);
  return writer.written;
}

export function intField(field: number, value: number | bigint | boolean): Buffer {
  return fieldOf((writer) => writer.number(field, value));
}

export function bytesField(field: number, value: Buffer | string): Buffer {
  return fieldOf((writer) => writer.bytes(field, value));
}

export function messageField(field: number, fields: readonly Buffer[]): Buffer {
  // Fields with bytes and with a message look the same, but an empty one is left out.
  if (fields.length === 0) return fieldOf((writer) => writer.message(field, () => {}));
  return bytesField(field, Buffer.concat(fields));
}
