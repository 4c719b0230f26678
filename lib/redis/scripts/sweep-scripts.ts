import { Script } from '../client/script.js';
import { HEAD, WAIT_QUEUES } from './parts.js';

/**
 * Asks for the turn to sweep. KEYS[3] is the turn, ARGV after the head's: its time in milliseconds. Costs 4 us. Returns
 * `{'TURN'}`, or `{'NONE'}` when another process had it within that time, or the server settles.
 */
export const TURN = new Script(
  'TURN',
  `${HEAD}
if settling > 0 then return {'NONE'} end
return {redis.call('SET', KEYS[3], sid, 'NX', 'PX', ARGV[4]) and 'TURN' or 'NONE'}
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
