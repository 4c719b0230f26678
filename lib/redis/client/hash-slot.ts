/** The number of slots that a cluster spreads its keys over. */
export const SLOTS = 16_384;

const POLYNOMIAL = 0x1021;

/** Returns the slot of a key in a cluster. Keys with the same text in their first braces have the same slot. */
export function slotOf(key: string): number {
  const [, tag] = /^[^{]*\{([^}]+)\}/.exec(key) ?? [];
  return crc16(Buffer.from(tag ?? key)) % SLOTS;
}

/** CRC-16/XMODEM, as Redis Cluster uses it. */
function crc16(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ POLYNOMIAL;
    crc &= 0xffff;
  }
  return crc;
}
