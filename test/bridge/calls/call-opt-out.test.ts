// What is noted of somebody who asks not to be called again.
import t from 'tap';
import { noteOptOut } from '../../../bridge/calls/call-opt-out.ts';
import type { NewDoNotCall } from '../../../storage/outbound/outbound-records.ts';

t.test('the words are on the list without the numbers that the call does not keep', async (t) => {
  const listed: NewDoNotCall[] = [];
  const store = {
    async addDoNotCall(_orgId: string, entries: readonly NewDoNotCall[]) {
      listed.push(...entries);
      return [];
    },
  };
  const ask = { do: 'note-opt-out', number: '+14155550100', by: 'words', itemId: 'i1', atMs: 5 } as const;
  const text = 'My card is 4111 1111 1111 1111, and stop calling me.';
  for (const mask of [[], ['card']] as const)
    await noteOptOut(store, { id: 'c1', org_id: 'o1', mask: [...mask] }, { ...ask, text });
  t.match(listed, [
    { number: '+14155550100', source: 'said', call_id: 'c1', reason: text },
    { reason: 'My card is •••• 1111, and stop calling me.' },
  ]);
});
