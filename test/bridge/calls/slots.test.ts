// How many calls are taken when more come at once than there are lines, from both directions; and while threads run late.
import t from 'tap';
import { makeAgent, makeNumber, succeeded } from '../../storage/makers.ts';
import { NOT_CONFIGURED, openCallsRig } from './calls-rig.ts';

async function inboundNumber(
  rig: Awaited<ReturnType<typeof openCallsRig>>,
  model: string | null = null,
): Promise<string> {
  const number = succeeded(await rig.store.insertNumber(makeNumber(rig.org)));
  succeeded(await rig.store.createAgent(makeAgent(rig.org, { type: 'inbound', model }), [number.id]));
  return number.e164;
}

t.test(
  'forty calls of both directions at once, seven lines: seven calls, and each refusal is told',
  async (t) => {
    const rig = await openCallsRig(t, { maxCalls: 7 });
    const to = await inboundNumber(rig);
    const outbound = Array.from({ length: 20 }, async () =>
      rig.calls.dispatch(rig.newCall()).then(
        () => 'taken',
        (error: { code?: string }) => error.code,
      ),
    );
    const inbound = Array.from({ length: 20 }, async (_, i) => {
      const answer = await rig.offer(`IN${i}`, to);
      return answer !== null && typeof answer === 'object' ? 'taken' : answer;
    });
    const answers = await Promise.all([...outbound, ...inbound]);
    const count = (what: string) => answers.filter((answer) => answer === what).length;
    t.equal(count('taken'), 7);
    t.equal(count('at_capacity') + count('busy'), 33);
    t.equal(rig.calls.live().length, 7);
    t.same(rig.refused, Array(33).fill('at_capacity'));
    t.equal(
      (await rig.store.listCalls(rig.org, {}, { limit: 100 })).length,
      7,
      'nothing is left of the others',
    );

    const [first] = rig.calls.live();
    await rig.calls.hangUp(rig.org, first?.callId ?? '');
    const next = await Promise.allSettled(
      Array.from({ length: 10 }, () => rig.calls.dispatch(rig.newCall())),
    );
    t.equal(
      next.filter(({ status }) => status === 'fulfilled').length,
      1,
      'a line that is free again is one line',
    );
  },
);

t.test('while every thread runs late, calls are refused before anything of them is stored', async (t) => {
  const rig = await openCallsRig(t);
  const to = await inboundNumber(rig);
  rig.late = true;
  await t.rejects(rig.calls.dispatch(rig.newCall()), {
    code: 'at_capacity',
    retryAfterSeconds: 5,
    message: /run late/,
  });
  t.equal(await rig.offer('IN1', to), 'busy');
  t.same(rig.refused, ['late', 'late']);
  t.same(rig.asked, [], 'nobody was called');
  t.same(await rig.store.listCalls(rig.org, {}, { limit: 10 }), []);
  rig.late = false;
  t.match(await rig.calls.dispatch(rig.newCall()), { status: 'initiated' });
});

t.test(
  'the carrier offers one inbound call twice at once: one call, one line, the same stream',
  async (t) => {
    for (const maxCalls of [1, 10]) {
      const rig = await openCallsRig(t, { maxCalls });
      const to = await inboundNumber(rig);
      const [first, second] = await Promise.all([rig.offer('IN1', to), rig.offer('IN1', to)]);
      t.match(first, { callId: String, url: /^ws:/, token: String });
      t.same(second, first, `${maxCalls} lines`);
      t.equal((await rig.store.listCalls(rig.org, {}, { limit: 10 })).length, 1);
      t.equal(rig.calls.live().length, 1);
    }
  },
);

t.test('offered again before its row is stored, at the last line: it waits for the row', async (t) => {
  const rig = await openCallsRig(t, { maxCalls: 1 });
  const to = await inboundNumber(rig);
  const { createCall } = rig.store;
  const { promise: looked, resolve: look } = Promise.withResolvers<void>();
  rig.store.createCall = async (...given) => {
    await looked;
    return createCall(...given);
  };
  const offers = [rig.offer('IN1', to), rig.offer('IN1', to)];
  // Longer than a late store answers each of the second one's questions.
  for (let turn = 0; turn < 200; turn++) await new Promise((later) => setImmediate(later));
  look();
  const [first, second] = await Promise.all(offers);
  t.match(first, { callId: String, url: /^ws:/, token: String });
  t.same(second, first);
});

t.test('a burst: who has to wait keeps the line, who would wait too long leaves nothing', async (t) => {
  const answers: ((mayBegin: boolean) => void)[] = [];
  let free = 1;
  const rig = await openCallsRig(t, {
    maxCalls: 3,
    ramp: { turn: () => free-- > 0 || new Promise((tell) => answers.push(tell)) },
  });
  const to = await inboundNumber(rig);
  const dispatch = () => rig.calls.dispatch(rig.newCall());
  t.match(await dispatch(), { status: 'initiated' });
  const second = dispatch();
  const third = rig.offer('IN1', to);
  await until(() => answers.length === 2);
  await t.rejects(dispatch(), { code: 'at_capacity', message: /All 3 lines/ });
  t.equal(rig.asked.length, 1, 'nobody else was called yet');

  answers[0]?.(true);
  t.match(await second, { status: 'initiated' });
  answers[1]?.(false);
  t.equal(await third, 'busy');
  t.same(rig.refused, ['at_capacity', 'ramp']);
  t.equal(rig.calls.live().length, 2);

  const late = dispatch();
  await until(() => answers.length === 3);
  rig.late = true;
  answers[2]?.(true);
  await t.rejects(late, { code: 'at_capacity', message: /run late/ }, 'it is looked again after the wait');
  rig.late = false;
  free = 1;
  t.match(await dispatch(), { status: 'initiated' }, 'no line was kept by those refused');
  t.equal((await rig.store.listCalls(rig.org, {}, { limit: 100 })).length, 3);
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((again) => setImmediate(again));
}

t.test(
  'a call for an agent whose model is not configured is rejected, and nothing of it is stored',
  async (t) => {
    const rig = await openCallsRig(t);
    const to = await inboundNumber(rig, NOT_CONFIGURED);
    t.equal(await rig.offer('IN1', to), 'rejected');
    t.same(rig.refused, ['no_model']);
    t.same(await rig.store.listCalls(rig.org, {}, { limit: 10 }), []);
  },
);
