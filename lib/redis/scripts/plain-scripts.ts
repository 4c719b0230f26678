import { Script } from '../client/script.js';
import { HEAD } from './parts.js';

/**
 * Locks that other libraries write: KEYS[3] is the lock, a random value with an expiry. KEYS[4] is the last token, which
 * only this library has. ARGV[4] is the value. A lock of another type, such as a hash, is another holder's.
 */
const HOLDER = `
local value = ARGV[4]
local function isOurs()
  return redis.call('TYPE', KEYS[3]).ok == 'string' and redis.call('GET', KEYS[3]) == value
end
`;

/**
 * Takes the lock if it is free. ARGV[5] is its time in milliseconds. Costs 6 us. Returns `{'GRANTED', token}`,
 * `{'REFUSED'}`, or `{'UNSETTLED', ms}` when nothing can be granted yet.
 */
export const TAKE_PLAIN = new Script(
  'TAKE_PLAIN',
  `${HEAD}${HOLDER}
if settling > 0 then return {'UNSETTLED', settling} end
if not redis.call('SET', KEYS[3], value, 'NX', 'PX', ARGV[5]) then
  if not isOurs() then return {'REFUSED'} end
  redis.call('PEXPIRE', KEYS[3], ARGV[5])
end
local token = digits(math.max(tonumber(redis.call('GET', KEYS[4]) or 0) + 1, ticks))
redis.call('SET', KEYS[4], token, 'PX', 86400000)
return {'GRANTED', token}
`,
);

/** Prolongs the lock. ARGV[5] is its time in milliseconds. Costs 5 us. Returns `{'KEPT'}` or `{'LOST'}`. */
export const RENEW_PLAIN = new Script(
  'RENEW_PLAIN',
  `${HEAD}${HOLDER}
if not isOurs() then return {'LOST'} end
redis.call('PEXPIRE', KEYS[3], ARGV[5])
return {'KEPT'}
`,
);

/** Removes the lock, unless it is another holder's. Costs 5 us. */
export const GIVE_PLAIN = new Script(
  'GIVE_PLAIN',
  `${HEAD}${HOLDER}
if isOurs() then redis.call('DEL', KEYS[3]) end
return {'LEFT'}
`,
);
