// Limits and lines: who goes now, who waits, and that nothing is lost or done twice.
import t from 'tap';
import type { Delivery } from '../../../control/webhooks/delivery.ts';
import { openDispatcher } from '../../../control/webhooks/dispatcher.ts';
import type { ClaimedDelivery } from '../../../storage/store.ts';
import { silent, until } from './webhook-rig.ts';

/** Ids are `<receiver>-<call>-<n>`; an attempt lasts until it is let go. */
function fakeDelivery(body = '') {
  const running = new Map<string, () => void>();
  const log: string[] = [];
  const givenBack: string[] = [];
  let claims = 0;
  const delivery: Delivery = {
    async claim(id, attempt) {
      claims++;
      const [receiver, call] = id.split('-');
      if (receiver === 'gone') return null;
      if (receiver === 'broken') throw new Error('disk full');
      const record = {
        id,
        endpoint_id: receiver,
        call_id: call,
        attempt_count: attempt,
        url: 'https://x.test/',
      };
      return {
        delivery: record,
        body,
        sequence: 1,
        secrets: [],
        replay: false,
      } as unknown as ClaimedDelivery;
    },
    async giveBack(claimed) {
      givenBack.push(claimed.delivery.id);
    },
    attempt(claimed, stop) {
      const { id, attempt_count } = claimed.delivery;
      log.push(`${id}#${attempt_count}`);
      return new Promise((done) => {
        const end = () => {
          running.delete(id);
          done();
        };
        running.set(id, end);
        stop.addEventListener('abort', end);
      });
    },
  };
  return {
    delivery,
    running,
    log,
    givenBack,
    claims: () => claims,
    finish(id: string) {
      const end = running.get(id);
      if (end === undefined) throw new Error(`${id} is not under way`);
      end();
    },
    of: (receiver: string) => [...running.keys()].filter((id) => id.startsWith(`${receiver}-`)),
  };
}

const idle = () => new Promise((turn) => setImmediate(turn));

t.test('five at once a receiver, the rest in its line, and others are not held up', async (t) => {
  const fake = fakeDelivery();
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  for (let i = 0; i < 100; i++) void dispatcher.run(`tar-${i}-1`, 0);
  for (let i = 0; i < 3; i++) void dispatcher.run(`good-${i}-1`, 0);
  await idle();
  t.equal(fake.of('tar').length, 5);
  t.equal(fake.of('good').length, 3);
  t.equal(dispatcher.waiting(), 95);
  fake.finish('tar-0-1');
  await until(() => fake.running.has('tar-5-1'));
  t.equal(fake.of('tar').length, 5);
  await dispatcher.close(0);
});

t.test('fifty at once in all, and receivers take turns for what comes free', async (t) => {
  const fake = fakeDelivery();
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  for (let i = 0; i < 10; i++) {
    for (let r = 0; r < 14; r++) void dispatcher.run(`r${r}-${r}x${i}-1`, 0);
  }
  await idle();
  t.equal(fake.running.size, 50);
  const counts = Array.from({ length: 14 }, (_, r) => fake.of(`r${r}`).length);
  t.ok(Math.min(...counts) >= 3, `each has some: ${counts}`);
  let finished = 0;
  while (fake.running.size > 0) {
    t.ok(fake.running.size <= 50);
    const [id] = fake.running.keys();
    fake.finish(id ?? '');
    finished++;
    await idle();
  }
  t.equal(finished, 140);
  t.equal(new Set(fake.log).size, 140);
  t.equal(dispatcher.waiting(), 0);
  await dispatcher.close(0);
});

t.test('one at a time for a call at a receiver, in the order they came due', async (t) => {
  const fake = fakeDelivery();
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  for (const id of ['a-call-1', 'a-call-2', 'a-call-3', 'a-other-1', 'b-call-1']) void dispatcher.run(id, 0);
  await idle();
  t.same([...fake.running.keys()].sort(), ['a-call-1', 'a-other-1', 'b-call-1']);
  fake.finish('a-call-1');
  await until(() => fake.running.has('a-call-2'));
  t.notOk(fake.running.has('a-call-3'));
  fake.finish('a-call-2');
  await until(() => fake.running.has('a-call-3'));
  await dispatcher.close(0);
});

t.test('the same delivery is not under way twice; what came due meanwhile follows', async (t) => {
  const fake = fakeDelivery();
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  void dispatcher.run('a-1-1', 0);
  await idle();
  await dispatcher.run('a-1-1', 0);
  await dispatcher.run('a-1-1', 1);
  t.ok(dispatcher.has('a-1-1'));
  t.same(fake.log, ['a-1-1#0']);
  fake.finish('a-1-1');
  await until(() => fake.log.length === 2);
  t.same(fake.log, ['a-1-1#0', 'a-1-1#1']);
  fake.finish('a-1-1');
  await until(() => !dispatcher.has('a-1-1'));
  await dispatcher.close(0);
});

t.test('what is known beforehand lines up without being taken', async (t) => {
  const fake = fakeDelivery();
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  for (let i = 0; i < 20; i++) {
    dispatcher.know({ id: `a-${i}-1`, receiver: 'a', callId: `${i}` });
    void dispatcher.run(`a-${i}-1`, 0);
  }
  await idle();
  t.same([fake.running.size, dispatcher.waiting(), fake.claims()], [5, 15, 5], 'no lease runs in a line');
  fake.finish('a-0-1');
  await until(() => fake.running.has('a-5-1'));
  t.equal(fake.claims(), 6);
  await dispatcher.close(0);
});

t.test('what was taken and finds no room in the lines is given back', async (t) => {
  const fake = fakeDelivery('x'.repeat(8 * 1024 * 1024));
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  for (let i = 0; i < 12; i++) void dispatcher.run(`a-${i}-1`, 0);
  await idle();
  t.same([fake.running.size, dispatcher.waiting()], [5, 4], '32 MiB of bodies wait');
  t.same(fake.givenBack, ['a-9-1', 'a-10-1', 'a-11-1']);
  t.notOk(dispatcher.has('a-11-1'), 'storage will tell of it again');
  await dispatcher.close(0);
});

t.test('nothing to do, and storage that fails, leave nothing behind', async (t) => {
  const fake = fakeDelivery();
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  await dispatcher.run('gone-1-1', 0);
  await dispatcher.run('broken-1-1', 0);
  t.notOk(dispatcher.has('gone-1-1'));
  t.notOk(dispatcher.has('broken-1-1'));
  t.equal(dispatcher.inFlight(), 0);
  await dispatcher.close(0);
});

t.test('a delivery that waited longer than its lease is taken again before it is posted', async (t) => {
  const fake = fakeDelivery();
  let time = 0;
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent, leaseMs: 3000, now: () => time });
  for (const id of ['a-call-1', 'a-call-2', 'a-call-3', 'a-call-4']) void dispatcher.run(id, 0);
  await idle();
  t.equal(fake.claims(), 4);
  time = 2000;
  fake.finish('a-call-1');
  await until(() => fake.running.has('a-call-2'));
  t.equal(fake.claims(), 4, 'two thirds of the lease have gone: it is still good');
  time = 2500;
  fake.finish('a-call-2');
  await until(() => !dispatcher.has('a-call-3'));
  t.notOk(fake.log.includes('a-call-3#0'), 'too late to post, too early to take again: left to the sweep');
  await until(() => !dispatcher.has('a-call-4'));
  await dispatcher.close(0);

  const later = openDispatcher({ delivery: fake.delivery, log: silent, leaseMs: 3000, now: () => time });
  time = 0;
  void later.run('b-call-1', 0);
  void later.run('b-call-2', 0);
  await idle();
  t.equal(fake.claims(), 6);
  time = 3001;
  fake.finish('b-call-1');
  await until(() => fake.running.has('b-call-2'));
  t.equal(fake.claims(), 7, 'the lease is over: it is taken again');
  await later.close(0);
});

t.test('when the lines are full, the longest one gives back', async (t) => {
  const fake = fakeDelivery('x'.repeat(1024 * 1024));
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  for (let i = 0; i < 40; i++) void dispatcher.run(`tar-${i}-1`, 0);
  for (let i = 0; i < 10; i++) void dispatcher.run(`good-${i}-1`, 0);
  await idle();
  t.equal(dispatcher.waiting(), 32);
  t.equal(dispatcher.has('tar-39-1'), false);
  for (let i = 0; i < 10; i++) t.ok(dispatcher.has(`good-${i}-1`));
  await dispatcher.close(0);
});

t.test('a close lets what is under way end, then aborts it, and takes no more', async (t) => {
  const fake = fakeDelivery();
  const dispatcher = openDispatcher({ delivery: fake.delivery, log: silent });
  void dispatcher.run('a-1-1', 0);
  await idle();
  const closed = dispatcher.close(60_000);
  await dispatcher.run('b-1-1', 0);
  t.same(fake.log, ['a-1-1#0']);
  fake.finish('a-1-1');
  await closed;

  const hurried = openDispatcher({ delivery: fake.delivery, log: silent });
  for (let i = 0; i < 10; i++) void hurried.run(`c-${i}-1`, 0);
  await idle();
  t.equal(fake.running.size, 5);
  await hurried.close(1);
  t.equal(fake.running.size, 0);
  t.equal(hurried.waiting(), 0);
});
