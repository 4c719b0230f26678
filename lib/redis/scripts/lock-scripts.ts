import { Script } from '../client/script.js';
import { HEAD, POSITIONS, WAIT_QUEUES } from './parts.js';

/**
 * Grants each key, or queues for it. ARGV after the head's: '1' to wait, '1' if it may have run before, then an
 * entry for each wait queue. Without waiting, all are granted or none leaves a trace. Returns
 * `{'POSITIONS', position, …}`, `{'REFUSED', 1 if the only contender of a single key may be idle}`, or
 * `{'UNSETTLED', ms}` when nothing can be granted yet.
 *
 * One key without holders, waiting entries and observers takes the short way at the top: three requests after the head's.
 * Its answer is the token alone, which is a fifth of the time of a list in a list. Permits do not take it: their recorded
 * number may be too small for the entry.
 */
export const ACQUIRE = new Script(
  'ACQUIRE',
  `${HEAD}
if #ARGV == 6 and settling == 0 and ARGV[5] == '0' and string.sub(ARGV[6], 1, 1) ~= 'p'
  and redis.call('EXISTS', KEYS[3], KEYS[4], KEYS[7]) == 0 then
  local token = nextToken(KEYS[5])
  redis.call('ZADD', KEYS[3], token, ARGV[6])
  return token
end
${WAIT_QUEUES}${POSITIONS}
local waits, again = ARGV[4] == '1', ARGV[5] == '1'
local most = #ARGV - 5
local function isFree(queue, entry)
  if isTaken(queue) then return false end
  if isWanted(queue) == 1 then
    reap(queue)
    grantTurns(queue)
    return isWanted(queue) == 0 and fits(queue, entry)
  end
  return fits(queue, entry) or (reap(queue) and fits(queue, entry))
end
-- Whether the only contender may keep the key without using it.
local function mayBeIdle(queue)
  local holders = redis.call('ZRANGE', queue.h, 0, 1)
  if #holders ~= 1 or isWanted(queue) == 1 then return 0 end
  return string.find(holders[1], '^%l|[^|]*|%d+|%d+|%d+|%d+k|') or 0
end
local function hold(queue, entry)
  return {'g', grant(queue, entry), isWanted(queue)}
end
local function queueUp(queue, entry)
  local place = redis.call('RPUSH', queue.w, entry)
  if place == 1 and string.sub(entry, 1, 1) ~= 'p' then
    for _, holder in ipairs(redis.call('ZRANGE', queue.h, 0, -1)) do tell(holder, 'w') end
  end
  return {'w', lookAfter(queue, place)}
end
local answers, found = {'POSITIONS'}, 0
if again then
  for place = 1, most do
    local position = positionOf(queueAt(place), ARGV[5 + place])
    if position[1] ~= '0' then answers[place + 1], found = position, found + 1 end
  end
end
-- Some were taken by force since an earlier run: the rest is released, and all are asked for anew.
if not waits and found > 0 and found < most then
  for place = 1, most do
    local queue = queueAt(place)
    if remove(queue, ARGV[5 + place]) and settling == 0 then grantTurns(queue) end
  end
  answers, found = {'POSITIONS'}, 0
end
if not waits and found == 0 then
  if settling > 0 then return {'UNSETTLED', settling} end
  for place = 1, most do
    if not isFree(queueAt(place), ARGV[5 + place]) then
      return {'REFUSED', most == 1 and mayBeIdle(queueAt(place)) or 0}
    end
  end
end
for place = 1, most do
  local queue, entry = queueAt(place), ARGV[5 + place]
  if not answers[place + 1] then
    local isNow = not waits or (settling == 0 and isFree(queue, entry))
    answers[place + 1] = isNow and hold(queue, entry) or queueUp(queue, entry)
  end
end
return answers
`,
);

/**
 * Releases entries, held or waiting, and hands over. ARGV after the head's: an entry for each wait queue. An entry that is
 * not there has left before. While the server settles, only an exclusive holder hands over: others may have a share that
 * is not on record.
 *
 * One key without waiting entries and observers takes the short way at the top, which is a fifth of the long one. It has
 * no head: the caller is done with the entry, so it may go from any server, in any session and at any time.
 */
export const LEAVE = new Script(
  'LEAVE',
  `
if #ARGV == 4 and string.sub(ARGV[4], 1, 1) ~= 'l' and redis.call('EXISTS', KEYS[4], KEYS[7]) == 0 then
  redis.call('ZREM', KEYS[3], ARGV[4])
  return 'LEFT'
end
${HEAD}${WAIT_QUEUES}
for place = 1, #ARGV - 3 do
  local queue, entry = queueAt(place), ARGV[3 + place]
  local wasHeld = remove(queue, entry)
  if not wasHeld then redis.call('LREM', queue.w, 1, entry) end
  local isEmpty = wasHeld and isAlone(entry)
  if settling == 0 or isEmpty then grantTurns(queue, isEmpty) end
end
return {'LEFT'}
`,
);

/**
 * Tells where entries stand, after removing dead holders and granting what is due. ARGV after the head's: an
 * entry for each wait queue. Costs 5 us, and 1 us for each holder. Returns `{'POSITIONS', position, …}`.
 */
export const LOOK = new Script(
  'LOOK',
  `${HEAD}${WAIT_QUEUES}${POSITIONS}
local answers = {'POSITIONS'}
for place = 1, #ARGV - 3 do
  local queue, entry = queueAt(place), ARGV[3 + place]
  if settling == 0 then
    reap(queue)
    grantTurns(queue)
  end
  answers[place + 1] = positionOf(queue, entry)
end
return answers
`,
);

/**
 * Turns a writer's entry into a reader's, and admits the readers that wait first. ARGV after the head's: the writer's entry, the
 * reader's entry. Costs 6 us.
 */
export const DOWNGRADE = new Script(
  'DOWNGRADE',
  `${HEAD}${WAIT_QUEUES}
local queue = queueAt(1)
local token = redis.call('ZSCORE', queue.h, ARGV[4])
if token then
  redis.call('ZREM', queue.h, ARGV[4])
  redis.call('ZADD', queue.h, token, ARGV[5])
  grantTurns(queue)
end
return {'DONE'}
`,
);

/**
 * Lists holders with their tokens, then waiting entries, in order and without those whose session is over. ARGV
 * after the head's: most holders, most waiting entries. Costs 1 us for each.
 */
export const LIST = new Script(
  'LIST',
  `${HEAD}${WAIT_QUEUES}
local queue, holders, waiting = queueAt(1), {}, {}
local entries = redis.call('ZRANGE', queue.h, 0, -1, 'WITHSCORES')
for place = 1, #entries, 2 do
  local _, owner = parse(entries[place])
  if #holders < 2 * ARGV[4] and isAlive(owner) then
    holders[#holders + 1] = entries[place]
    holders[#holders + 1] = digits(tonumber(entries[place + 1]))
  end
end
if tonumber(ARGV[5]) > 0 then
  for _, entry in ipairs(redis.call('LRANGE', queue.w, 0, ARGV[5] - 1)) do
    local _, owner = parse(entry)
    if isAlive(owner) then waiting[#waiting + 1] = entry end
  end
end
return {'LISTED', holders, waiting}
`,
);

/**
 * Asks holders to release, and makes changes of the wait queue known for a while. ARGV after the head's: for how long, then
 * the last token that counts; with '', it is that of the last present holder. While the server settles, all tokens up to
 * now count: such holds may be adopted yet. A token stays the same when a writer becomes a reader, and when another
 * session adopts a hold. With '0' after that, holders that were asked before are only counted. Costs 3 us, and 2 us for
 * each holder. Returns `{'ASKED', last, holders, settling}`.
 */
export const ASK = new Script(
  'ASK',
  `${HEAD}${WAIT_QUEUES}
local queue, last = queueAt(1), ARGV[5]
redis.call('SET', queue.o, '1', 'PX', ARGV[4])
reap(queue)
if last == '' then
  last = tonumber(redis.call('ZRANGE', queue.h, -1, -1, 'WITHSCORES')[2] or 0)
  if settling > 0 then
    -- The next grant may have the token of this moment.
    last = math.max(ticks - 1, last, tonumber(redis.call('GET', queue.t) or 0))
  end
  last = digits(last)
end
local holders = redis.call('ZRANGEBYSCORE', queue.h, '-inf', last)
if ARGV[6] ~= '0' then
  for _, holder in ipairs(holders) do tell(holder, 'r') end
end
return {'ASKED', last, #holders, settling}
`,
);

/**
 * Takes the key from holders by force, tells their processes, and hands over. ARGV after the head's: the last token that
 * counts. Costs 4 us, and 2 us for each holder. Returns `{'DONE'}`, or `{'SETTLING', ms}` when others may be adopted yet.
 */
export const FORCE = new Script(
  'FORCE',
  `${HEAD}${WAIT_QUEUES}
local queue = queueAt(1)
for _, holder in ipairs(redis.call('ZRANGEBYSCORE', queue.h, '-inf', ARGV[4])) do
  remove(queue, holder)
  tell(holder, 'x')
end
if settling > 0 then return {'SETTLING', settling} end
grantTurns(queue)
return {'DONE'}
`,
);

/** Records the number of permits and admits those that wait. ARGV after the head's: number. Costs 6 us. */
export const SET_PERMITS = new Script(
  'SET_PERMITS',
  `${HEAD}${WAIT_QUEUES}
local queue = queueAt(1)
redis.call('SET', queue.d, ARGV[4])
if settling == 0 then grantTurns(queue) end
return {'DONE'}
`,
);

/** Reads the recorded number of permits. Returns `{'PERMITS', number}`, without a number if none is recorded. */
export const GET_PERMITS = new Script(
  'GET_PERMITS',
  `${HEAD}${WAIT_QUEUES}
return {'PERMITS', redis.call('GET', queueAt(1).d)}
`,
);

/**
 * Publishes the leader's value. ARGV after the head's: the leader's entry, value. Returns `{'DONE'}`, or `{'REFUSED'}` when the
 * entry does not hold. Costs 4 us.
 */
export const PROCLAIM = new Script(
  'PROCLAIM',
  `${HEAD}${WAIT_QUEUES}
local queue = queueAt(1)
if not redis.call('ZSCORE', queue.h, ARGV[4]) then return {'REFUSED'} end
redis.call('SET', queue.d, ARGV[5])
publishChange(queue)
return {'DONE'}
`,
);

/**
 * Finds the leader, and makes changes of the election known for a while. ARGV after the head's: for how long. Costs 5 us. Returns
 * `{'LEADER', entry, token, endsIn, value}`, or `{'LEADER'}` when there is none.
 */
export const FIND_LEADER = new Script(
  'FIND_LEADER',
  `${HEAD}${WAIT_QUEUES}
local queue = queueAt(1)
redis.call('SET', queue.o, '1', 'PX', ARGV[4])
local first = redis.call('ZRANGE', queue.h, 0, 0, 'WITHSCORES')
if not first[1] then return {'LEADER'} end
local _, owner = parse(first[1])
local left = endOf(owner) - now
if left <= 0 then return {'LEADER'} end
return {'LEADER', first[1], digits(tonumber(first[2])), left, redis.call('GET', queue.d)}
`,
);

/**
 * Finds keys by their names, some at a time. ARGV after the head's: the cursor, the pattern, how many names to look at.
 * Returns `{'FOUND', cursor, {key, …}}`; the cursor is '0' at the end. Costs 0.3 us for each name of the whole database.
 */
export const FIND = new Script(
  'FIND',
  `${HEAD}
local found = redis.call('SCAN', ARGV[4], 'MATCH', ARGV[5], 'COUNT', ARGV[6])
return {'FOUND', found[1], found[2]}
`,
);

/**
 * Lists the first entries of several wait queues, and counts all. ARGV after the head's: most holders, and most waiting
 * entries. Returns `{'SURVEYED', {holding, waiting, {holder, token, …}, {entry, …}}, …}`. Entries whose session is over
 * do not count, but for waiting ones after the first thousand. Costs 1 us for each.
 */
export const SURVEY = new Script(
  'SURVEY',
  `${HEAD}${WAIT_QUEUES}
local answers, most = {'SURVEYED'}, tonumber(ARGV[4])
for place = 1, (#KEYS - 2) / 5 do
  local queue, holders, waiting, counts = queueAt(place), {}, {}, {0, 0}
  local entries = redis.call('ZRANGE', queue.h, 0, -1, 'WITHSCORES')
  for at = 1, #entries, 2 do
    local _, owner = parse(entries[at])
    if isAlive(owner) then
      counts[1] = counts[1] + 1
      if counts[1] <= most then
        holders[#holders + 1] = entries[at]
        holders[#holders + 1] = digits(tonumber(entries[at + 1]))
      end
    end
  end
  for _, entry in ipairs(redis.call('LRANGE', queue.w, 0, 999)) do
    local _, owner = parse(entry)
    if isAlive(owner) then
      counts[2] = counts[2] + 1
      if counts[2] <= most then waiting[#waiting + 1] = entry end
    end
  end
  counts[2] = counts[2] + math.max(0, redis.call('LLEN', queue.w) - 1000)
  answers[#answers + 1] = {counts[1], counts[2], holders, waiting}
end
return answers
`,
);
