// Lines that are stored together, and what becomes of the others when one of them cannot be.
import t from 'tap';
import { openTranscriptLog } from '../../../bridge/calls/transcript-log.ts';
import type { Log } from '../../../log.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { addOrganization, makeCall, makeItem } from '../../storage/makers.ts';

function open(save: Store['saveTranscript']) {
  const batches: number[] = [];
  const errors: unknown[][] = [];
  const log = { error: (...line: unknown[]) => errors.push(line) } as unknown as Log;
  const batch = openTranscriptLog(
    {
      saveTranscript(items) {
        batches.push(items.length);
        return save(items);
      },
    },
    log,
    () => {},
  );
  return { batch, batches, errors };
}

t.test('what comes together is one transaction', async (t) => {
  const { batch, batches, errors } = open(async () => []);
  const [one, two, three] = [makeItem('a'), makeItem('b'), makeItem('c')];
  t.same(await Promise.all([batch([one, two]), batch([three])]), [[one, two], [three]]);
  await batch([one]);
  t.same([batches, errors], [[3, 1], []]);
});

t.test(
  'lines of a call that another daemon has taken over are not stored; the log is told, and the call',
  async (t) => {
    const lines: unknown[][] = [];
    const log = { warn: (...line: unknown[]) => lines.push(line), error: () => t.fail() } as unknown as Log;
    const replaced: (readonly string[])[] = [];
    const store = { saveTranscript: async () => ['theirs'] };
    const batch = openTranscriptLog(store, log, (callIds) => replaced.push(callIds));
    const [own, other] = [makeItem('own'), makeItem('theirs')];
    t.same(await batch([own, other]), [own]);
    t.same(lines, [[{ call_ids: ['theirs'] }, 'transcript.not_owned']]);
    t.same(replaced, [['theirs']]);
  },
);

t.test('a line that the store refuses takes no other one with it, and is told once', async (t) => {
  const store = await openStore({ path: ':memory:' });
  t.teardown(() => store.close());
  const org = await addOrganization(store);
  const call = makeCall(org);
  await store.createCall(call, { events: [], reserve: 0 });
  const { batch, errors } = open((items) => store.saveTranscript(items));
  const [first, lost, second] = [
    makeItem(call.id, { id: 'first' }),
    makeItem('0199a000-0000-7000-8000-00000000dead', { id: 'of no call' }),
    makeItem(call.id, { id: 'second' }),
  ];
  t.same(await Promise.all([batch([first]), batch([lost]), batch([second])]), [[first], [], [second]]);
  t.same((await store.listTranscript(call.id)).map(({ id }) => id).sort(), ['first', 'second']);
  t.equal(errors.length, 1);
  t.match(errors, [[{ lost: 1, of: 3, call_ids: [lost.call_id] }, 'transcript.not_stored']]);
  t.same(await batch([second]), [second], 'the next batch goes on');
});

t.test('when nothing can be stored, nobody waits or fails for it', async (t) => {
  const { batch, batches, errors } = open(async () => {
    throw new Error('the disk is full');
  });
  t.same(await batch([makeItem('a')]), []);
  t.same(batches, [1], 'one line is not tried twice');
  t.match(errors, [[{ lost: 1, of: 1, err: { message: 'the disk is full' } }, 'transcript.not_stored']]);
});

t.test('what is newer is written when what is older is stored, and together', async (t) => {
  const stored: (() => void)[] = [];
  const { batch, batches } = open(() => new Promise((done) => stored.push(() => done([]))));
  const first = batch([makeItem('a')]);
  await new Promise(setImmediate);
  const later = Promise.all([batch([makeItem('a')]), batch([makeItem('b')])]);
  await new Promise(setImmediate);
  t.same(batches, [1], 'it waits');
  stored[0]?.();
  await first;
  await new Promise(setImmediate);
  t.same(batches, [1, 2]);
  stored[1]?.();
  t.equal((await later).length, 2);
});
