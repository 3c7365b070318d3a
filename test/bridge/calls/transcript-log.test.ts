// Lines on their way to storage, and what becomes of the others when one of them cannot be stored.
import t from 'tap';
import { openTranscriptLog } from '../../../bridge/calls/transcript-log.ts';
import type { Log } from '../../../log.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { addOrganization, makeCall, makeItem } from '../../storage/makers.ts';

function open(save: Store['saveTranscript']) {
  const asked: [lines: number, patient: boolean | undefined][] = [];
  const errors: unknown[][] = [];
  const log = { error: (...line: unknown[]) => errors.push(line) } as unknown as Log;
  const lines = openTranscriptLog(
    {
      saveTranscript(items, patience) {
        asked.push([items.length, patience?.patient]);
        return save(items, patience);
      },
    },
    log,
    () => {},
  );
  return { lines, asked, errors };
}

t.test('what is said together is stored together, as patiently as it may be', async (t) => {
  const { lines, asked, errors } = open(async () => []);
  const [one, two, three] = [makeItem('a'), makeItem('a'), makeItem('b')];
  t.same(await lines([one, two], { patient: true }), [one, two]);
  t.same(await lines([three]), [three]);
  t.same(asked, [
    [2, true],
    [1, undefined],
  ]);
  t.same(errors, []);
});

t.test(
  'lines of a call that another daemon has taken over are not stored; the log is told, and the call',
  async (t) => {
    const told: unknown[][] = [];
    const log = { warn: (...line: unknown[]) => told.push(line), error: () => t.fail() } as unknown as Log;
    const replaced: (readonly string[])[] = [];
    const store = { saveTranscript: async () => ['theirs'] };
    const lines = openTranscriptLog(store, log, (callIds) => replaced.push(callIds));
    const [own, other] = [makeItem('own'), makeItem('theirs')];
    t.same(await lines([own, other]), [own]);
    t.same(told, [[{ call_ids: ['theirs'] }, 'transcript.not_owned']]);
    t.same(replaced, [['theirs']]);
  },
);

t.test('a line that the store refuses takes no other one with it, and is told once', async (t) => {
  const store = await openStore({ path: ':memory:' });
  t.teardown(() => store.close());
  const org = await addOrganization(store);
  const call = makeCall(org);
  await store.createCall(call, { events: [], reserve: 0 });
  const { lines, errors } = open((items, patience) => store.saveTranscript(items, patience));
  const [first, lost, second] = [
    makeItem(call.id, { id: 'first' }),
    makeItem('0199a000-0000-7000-8000-00000000dead', { id: 'of no call' }),
    makeItem(call.id, { id: 'second' }),
  ];
  t.same(await lines([first, lost, second], { patient: true }), [first, second]);
  t.same((await store.listTranscript(call.id)).map(({ id }) => id).sort(), ['first', 'second']);
  t.equal(errors.length, 1);
  t.match(errors, [[{ lost: 1, of: 3, call_ids: [lost.call_id] }, 'transcript.not_stored']]);
  t.same(await lines([second]), [second], 'the next goes on');
});

t.test('when nothing can be stored, nobody waits or fails for it', async (t) => {
  const { lines, asked, errors } = open(async () => {
    throw new Error('the disk is full');
  });
  t.same(await lines([makeItem('a')]), []);
  t.equal(asked.length, 1, 'one line is not tried twice');
  t.match(errors, [[{ lost: 1, of: 1, err: { message: 'the disk is full' } }, 'transcript.not_stored']]);
});
