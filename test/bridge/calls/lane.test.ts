// One thing after the other, and nobody who waits is held up by what is stored patiently.
import t from 'tap';
import { Lane } from '../../../bridge/calls/lane.ts';

/** A lane over a store whose patient writes end with a flush alone. */
function open() {
  const writes: { patient: boolean | undefined; done: () => void }[] = [];
  let flushes = 0;
  const store = {
    async flush() {
      flushes += 1;
      for (const { done } of writes.splice(0)) done();
    },
  };
  const lane = new Lane(store);
  const saved: (boolean | undefined)[] = [];
  const save = (mayBePatient: boolean) => () =>
    lane.store(mayBePatient, ({ patient }) => {
      saved.push(patient);
      return new Promise<void>((done) => (patient ? writes.push({ patient, done }) : done()));
    });
  return { lane, store, save, saved, flushes: () => flushes };
}

const later = () => new Promise((next) => setImmediate(next));

t.test('in order, whatever becomes of one', async (t) => {
  const { lane } = open();
  const order: string[] = [];
  const failed = lane.run(async () => {
    await later();
    order.push('first');
    throw new Error('it fails');
  });
  const second = lane.run(async () => order.push('second'), { patient: true });
  const third = lane.run(async () => order.push('third'));
  await t.rejects(failed, { message: 'it fails' });
  await Promise.all([second, third, lane.last]);
  t.same(order, ['first', 'second', 'third']);
});

t.test('who comes behind a patient write has it flushed, and those before him wait for nobody', async (t) => {
  const { lane, save, saved, flushes } = open();
  const patient = { patient: true };
  const first = lane.run(save(true), patient);
  const second = lane.run(save(true), patient);
  await later();
  t.same(saved, [true], 'the second waits for the first');
  t.equal(flushes(), 0, 'and holds up nobody');
  const third = lane.run(save(false));
  await Promise.all([first, second, third]);
  t.same(saved, [true, false, false]);
  t.equal(flushes(), 1);
});

t.test('with nobody behind it the next is patient again', async (t) => {
  const { lane, save, saved, flushes } = open();
  await lane.run(save(false));
  const last = lane.run(save(true), { patient: true });
  await later();
  t.same(saved, [false, true]);
  t.equal(flushes(), 0);
  await lane.run(async () => {});
  await last;
});

t.test('of patient ones that come together the first alone is stored patiently', async (t) => {
  const { lane, store, save, saved } = open();
  const works = [1, 2, 3, 4].map(() => lane.run(save(true), { patient: true }));
  await later();
  t.same(saved, [true]);
  await store.flush();
  await Promise.all(works);
  t.same(saved, [true, false, false, false], 'what is told last is stored as soon as the first');
  const next = lane.run(save(true), { patient: true });
  await later();
  t.equal(saved.at(-1), true, 'one that comes by itself is patient again');
  await store.flush();
  await next;
});
