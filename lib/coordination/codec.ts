import { check, describe } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';

/** The conversion of values to bytes and back. */
export interface Codec<T> {
  /** Converts a value to bytes. */
  encode(value: T): Uint8Array;
  /** Converts bytes to a value. */
  decode(bytes: Uint8Array): T;
}

/**
 * `'json'` (default): any value that JSON can represent. `'bytes'`: a `Uint8Array`, unchanged; read back as a `Buffer`.
 */
export type CodecOption<T> = 'json' | 'bytes' | Codec<T>;

/**
 * The largest payload of one request, in bytes. A server disconnects a client that sends more than a megabyte at once.
 */
export const LARGEST_BYTES = 512 * 1_024;

/** Returns the codec of an option. @throws LockConfigurationError */
export function resolveCodec<T>(codec: CodecOption<T> = 'json'): Codec<T> {
  if (codec === 'json') return JSON_CODEC;
  if (codec === 'bytes') return BYTES_CODEC as Codec<unknown> as Codec<T>;
  const isCodec = typeof codec?.encode === 'function' && typeof codec.decode === 'function';
  check(isCodec, 'codec', codec, "'json', 'bytes' or an object with encode and decode");
  return codec;
}

/** Returns the bytes of a value. @throws LockConfigurationError for a value that cannot be encoded, or is too large */
export function encoded<T>(codec: Codec<T>, value: T): Buffer {
  const bytes = codec.encode(value);
  check(bytes instanceof Uint8Array, 'what the codec makes of the value', bytes, 'a Uint8Array');
  if (bytes.length <= LARGEST_BYTES) return Buffer.from(bytes);
  throw new LockConfigurationError(`value must be of at most ${LARGEST_BYTES} bytes, it has ${bytes.length}`);
}

const JSON_CODEC = {
  encode: (value: unknown): Uint8Array => {
    const text = jsonOf(value);
    if (text !== undefined) return Buffer.from(text);
    throw new LockConfigurationError(`value must be something that JSON can say, got ${describe(value)}`);
  },
  decode: <T>(bytes: Uint8Array): T => JSON.parse(Buffer.from(bytes).toString()),
};

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) as string | undefined;
  } catch (cause) {
    throw new LockConfigurationError(`value must be something that JSON can say: ${(cause as Error).message}`, {
      cause,
    });
  }
}

const BYTES_CODEC: Codec<Uint8Array> = {
  encode: (value) => {
    check(value instanceof Uint8Array, 'value', value, 'a Uint8Array');
    return value;
  },
  decode: (bytes) => bytes,
};
