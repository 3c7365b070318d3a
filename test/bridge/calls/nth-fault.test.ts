// Every write, request to the carrier, post and addition to the queue of a few calls fails once; `node
// test/bridge/calls/nth-fault.ts` does it at length.
import t from 'tap';
import { campaign, KINDS } from './nth-fault.ts';

t.setTimeout(150_000);
// Each kind has calls of its own, which wait most of their time.
t.jobs = KINDS.length;

for (const kind of KINDS) {
  t.test(`the n-th ${kind} fails, for every n until none is left`, async (t) => {
    const { runs, counts, violations } = await campaign({
      every: 1,
      inARow: [1],
      codes: ['SQLITE_FULL'],
      kinds: [kind],
    });
    t.ok(counts[kind] >= 3 && runs > counts[kind], `${runs} runs of ${counts[kind]}`);
    t.same(violations, []);
  });
}
