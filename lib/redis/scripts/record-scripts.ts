import { Script } from '../client/script.js';
import { HEAD } from './parts.js';

/**
 * Records are hashes of value, version, time and write id. KEYS[3] is the sorted set of all names, KEYS[4] and so on are
 * the records.
 */

/** Reads records at one moment. Costs 1 us for each. Returns `{'READ', {value, version, time}, …}`. */
export const READ_RECORDS = new Script(
  'READ_RECORDS',
  `${HEAD}
local answers = {'READ'}
for place = 4, #KEYS do
  answers[#answers + 1] = redis.call('HMGET', KEYS[place], 'v', 'n', 'at')
end
return answers
`,
);

/**
 * Applies all changes or none. ARGV after the head's: '1' if it may have run before, write id, then for each record its
 * name, its condition ('', 'absent' or a version), its change ('set', 'remove' or 'keep'), its value. Costs 3 us, and 3
 * us for each record. Returns `{'APPLIED', time, version, …}`, `{'CONFLICT', place}`, or `{'UNKNOWN'}` when an earlier
 * run may have been overwritten.
 */
export const WRITE_RECORDS = new Script(
  'WRITE_RECORDS',
  `${HEAD}
local again, id = ARGV[4] == '1', ARGV[5]
local most = #KEYS - 3
local function changeAt(place)
  local first = 6 + 4 * (place - 1)
  return KEYS[3 + place], ARGV[first], ARGV[first + 1], ARGV[first + 2], ARGV[first + 3]
end
local conflict, isSure, written, sets = 0, true, 0, 0
for place = 1, most do
  local key, _, condition, change = changeAt(place)
  local found = redis.call('HMGET', key, 'n', 'w')
  if change == 'set' then sets = sets + 1 end
  if found[2] == id then written = written + 1 end
  if condition == '' then isSure = false
  elseif condition ~= (found[1] or 'absent') and conflict == 0 then conflict = place end
end
if again and written > 0 then
  if written < sets then return {'UNKNOWN'} end
  local answers = {'APPLIED', redis.call('HGET', KEYS[3 + 1], 'at') or digits(now)}
  for place = 1, most do
    local key, _, _, change = changeAt(place)
    if change == 'set' then
      answers[#answers + 1] = redis.call('HGET', key, 'n')
      answers[2] = redis.call('HGET', key, 'at')
    end
  end
  return answers
end
if again and (conflict > 0 or not isSure) then return {'UNKNOWN'} end
if conflict > 0 then return {'CONFLICT', conflict} end
local answers = {'APPLIED', digits(now)}
for place = 1, most do
  local key, name, _, change, value = changeAt(place)
  if change == 'set' then
    local version = (redis.call('HGET', key, 'n') or -1) + 1
    redis.call('HSET', key, 'v', value, 'n', digits(version), 'at', digits(now), 'w', id)
    redis.call('ZADD', KEYS[3], 0, name)
    answers[#answers + 1] = digits(version)
  elseif change == 'remove' then
    redis.call('DEL', key)
    redis.call('ZREM', KEYS[3], name)
  end
end
return answers
`,
);

/**
 * Lists the segments directly below a name. ARGV after the head's: the name with a slash. Costs 2 us for each, however
 * many names are below it.
 */
export const LIST_RECORDS = new Script(
  'LIST_RECORDS',
  `${HEAD}
local answers, above, from = {'LISTED'}, ARGV[4], '[' .. ARGV[4]
while true do
  local name = redis.call('ZRANGEBYLEX', KEYS[3], from, '+', 'LIMIT', 0, 1)[1]
  if not name or string.sub(name, 1, #above) ~= above then return answers end
  local rest = string.sub(name, #above + 1)
  local segment = string.match(rest, '^[^/]*')
  answers[#answers + 1] = segment
  -- '0' is the character after the slash: what lies below the segment is skipped.
  from = rest == segment and '(' .. name or '[' .. above .. segment .. '0'
end
`,
);
