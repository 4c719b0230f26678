import { INITIAL_VALUE } from '../../model/initial.js';
import type { Versioned } from '../../../../lib/coordination/shared-value.js';
import { actUntilFinished } from '../desk.js';
import type { Desk } from '../desk.js';
import { keyOfNow } from '../working.js';

type Deed = 'add' | 'count' | 'get' | 'set' | 'compareAndSet' | 'remove';

const ANSWER = { answerOf: ({ value, version }: Versioned<string | number>) => ({ value, version }) };

/** Counters and values that are added to, read, written, and written on a condition. */
export async function values(desk: Desk): Promise<void> {
  let count = 0;
  let seen: Versioned<string> = { value: INITIAL_VALUE, version: 'absent' };
  await actUntilFinished(desk, async () => {
    const { calls, coordination, random } = desk;
    const deed = random.weighted<Deed>({ add: 4, count: 2, get: 8, set: 1, compareAndSet: 4, remove: 1 });
    const counted = { on: 'counter', key: keyOfNow(desk, 'visits') } as const;
    const visits = coordination.counter(counted.key);
    const delta = random.int(1, 3);
    if (deed === 'add')
      return void (await calls.make({ ...counted, ask: 'add', delta }, () => visits.add(delta), ANSWER));
    if (deed === 'count') return void (await calls.make({ ...counted, ask: 'get' }, () => visits.get(), ANSWER));
    const named = { on: 'value', key: keyOfNow(desk, 'limits') } as const;
    const limits = coordination.value(named.key, { initial: INITIAL_VALUE });
    const value = `${desk.name}/${++count}`;
    const look = async () => {
      seen = (await calls.make({ ...named, ask: 'get' }, () => limits.get(), ANSWER)).value ?? seen;
    };
    if (deed === 'get') await look();
    else if (deed === 'set') await calls.make({ ...named, ask: 'set', value }, () => limits.set(value));
    else if (deed === 'remove') await calls.make({ ...named, ask: 'remove' }, () => limits.remove());
    else {
      // Half of the writes are based on an earlier read.
      if (random.chance(0.5)) await look();
      const { version } = seen;
      const call = { ...named, ask: 'compareAndSet', version, value } as const;
      seen = (await calls.make(call, () => limits.compareAndSet({ version }, value), ANSWER)).value ?? seen;
    }
  });
}
