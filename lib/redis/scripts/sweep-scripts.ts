import { Script } from '../client/script.js';
import { HEAD, WAIT_QUEUES } from './parts.js';

/**
 * Asks for the turn to sweep, keeps it, or ends it. KEYS[3] is the turn, ARGV after the head's: its time in milliseconds, '1'
 * when this process has swept. Then nobody has the turn for that time. Costs 4 us. Returns `{'TURN'}`, or `{'NONE'}` when
 * another process has it, a sweep has ended within that time, or the server settles.
 */
export const TURN = new Script(
  'TURN',
  `${HEAD}
local owner = redis.call('GET', KEYS[3])
if settling > 0 or (owner and owner ~= sid) then return {'NONE'} end
redis.call('SET', KEYS[3], ARGV[5] == '1' and 'done' or sid, 'PX', ARGV[4])
return {'TURN'}
`,
);

/**
 * Removes the entries of several wait queues whose session is over: of all holders, and of the first thousand that wait.
 * Grants nothing: the number of permits may be recorded under another key, and those that wait look by themselves. Costs 1
 * us for each. Returns `{'SWEPT'}`.
 */
export const SWEEP = new Script(
  'SWEEP',
  `${HEAD}${WAIT_QUEUES}
if settling > 0 then return {'SWEPT'} end
for place = 1, (#KEYS - 2) / 5 do
  local queue = queueAt(place)
  reap(queue)
  for _, entry in ipairs(redis.call('LRANGE', queue.w, 0, 999)) do
    local _, owner = parse(entry)
    if not isAlive(owner) then redis.call('LREM', queue.w, 1, entry) end
  end
end
return {'SWEPT'}
`,
);
