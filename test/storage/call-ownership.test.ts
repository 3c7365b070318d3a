// Who writes of a call, by table.
import t from 'tap';
import { mayWrite, type Owned } from '../../storage/call-ownership.ts';
import { CALL_STATUSES } from '../../storage/records.ts';

const SELF = 5;
const DEAD = 3;
const LIVING = 4;
const OVER = new Set(['completed', 'no_answer', 'busy', 'canceled', 'failed']);

const CASES: [name: string, owned: Omit<Owned, 'status'>, live: boolean, over: boolean][] = [
  ['its own', { owner: SELF, heir: null }, true, true],
  ["a living daemon's", { owner: LIVING, heir: null }, false, false],
  ["one's that is gone, taken over by this one", { owner: DEAD, heir: SELF }, false, true],
  ["one's that is gone, taken over by another", { owner: DEAD, heir: LIVING }, false, true],
  ['nobody’s', { owner: null, heir: null }, false, true],
];

for (const [name, owned, live, over] of CASES) {
  for (const status of CALL_STATUSES) {
    const wanted = OVER.has(status) ? over : live;
    t.test(`${name}, ${status} -> ${wanted ? 'written' : 'left'}`, async (t) => {
      t.equal(mayWrite({ ...owned, status }, SELF), wanted);
    });
  }
}
