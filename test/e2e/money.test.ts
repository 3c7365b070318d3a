// Credit over real HTTP, with the real store, carrier and model on the wires: what 100 dispatches at once may spend, and
// a ledger that adds up after every kind of end. The ledger is read from the database file, beside the daemon.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import type { PublicCall } from '../../storage/call-view.ts';
import { ENDED, openRig, POLITE, until } from './rig.ts';

const OPERATOR_KEY = 'operator-key-of-the-test';
/** Milli-cents a minute, and for the minutes held at once. */
const PRICE = 6_000;
const HOLD = 5 * PRICE;

t.test('money', async (t) => {
  const rig = await openRig(t, {
    env: {
      OPERATOR_KEY,
      PRICE_PER_MINUTE_MILLI_CENTS: String(PRICE),
      RESERVE_MINUTES: '5',
      MAX_CONCURRENT_CALLS: '200',
    },
    carrier: {
      defaultCallee: { ringMs: 60_000 },
      callees: {
        '+15550107001': POLITE,
        '+15550107002': { ringMs: 200, outcome: 'busy' },
        '+15550107003': { ringMs: 200, outcome: 'rejected' },
        '+15550107004': { ringMs: 200, outcome: 'invalid' },
        '+15550107005': { ringMs: 200, steps: [{ do: 'wait', ms: 1_500 }, { do: 'hang_up' }] },
      },
    },
  });
  const db = new Database(join(rig.folder, 'data', 'offhook.db'), { readonly: true });
  t.teardown(() => db.close());
  const rows = (callId: string) =>
    db
      .prepare('SELECT kind, amount_milli_cents AS amount FROM ledger WHERE call_id = ? ORDER BY seq')
      .all(callId) as {
      kind: string;
      amount: number;
    }[];
  const ledgerSum = () =>
    Number(db.prepare('SELECT coalesce(sum(amount_milli_cents), 0) FROM ledger').pluck().get());
  const credit = async () =>
    (
      await rig.lab.api<{ balance_milli_cents: number | null; held_milli_cents: number }>(
        'GET',
        '/v1/balance',
      )
    ).body;
  const setBalance = (balance: number | null) =>
    rig.lab.api('PUT', '/v1/balance', { balance_milli_cents: balance }, { 'operator-key': OPERATOR_KEY });
  const agent = await rig.agent({
    instructions: 'TEST-BRIEF Talk shortly.',
    returns: { said_goodbye: 'boolean' },
  });

  t.test('100 dispatches at once with credit for 7: exactly 7 calls', async (t) => {
    await setBalance(7 * HOLD + HOLD - 1);
    const dispatch = (i: number) =>
      rig.lab.api<PublicCall & { error?: { code: string } }>('POST', '/v1/calls', {
        agent_id: agent.id,
        to: `+1555020${String(i).padStart(4, '0')}`,
      });
    // Of a burst some are told to come again.
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        until('an answer', async () => {
          const answer = await dispatch(i);
          return answer.status === 503 ? null : answer;
        }),
      ),
    );
    const made = answers.filter((answer) => answer.status === 201);
    const refused = answers.filter((answer) => answer.status === 402);
    t.equal(made.length, 7);
    t.equal(refused.length, 93);
    t.ok(refused.every((answer) => answer.body.error?.code === 'insufficient_credit'));
    t.same(await credit(), { balance_milli_cents: HOLD - 1, held_milli_cents: 7 * HOLD });
    const dialled = await rig.lab.ask<{ calls: { to: string }[] }>('carrier', '/calls');
    t.equal(dialled.calls.length, 7, 'and no other phone rang');
    t.equal((await rig.lab.api<PublicCall[]>('GET', '/v1/calls')).body.length, 7);

    await Promise.all(made.map(({ body }) => rig.lab.api('POST', `/v1/calls/${body.id}/cancel`)));
    t.same(await credit(), { balance_milli_cents: 8 * HOLD - 1, held_milli_cents: 0 }, 'all of it came back');
    t.equal(ledgerSum(), 8 * HOLD - 1);
  });

  t.test('after every kind of end, the rows of a call add up to its bill', async (t) => {
    await setBalance(20 * HOLD);
    const dial = async (to: string) =>
      (await rig.lab.api<PublicCall>('POST', '/v1/calls', { agent_id: agent.id, to })).body.id;
    const ids = await Promise.all(['1', '2', '3', '4', '5'].map((n) => dial(`+1555010700${n}`)));
    const hungUp = await dial('+15550107001');
    await until('an answer', async () => (await rig.call(hungUp)).status === 'in_progress');
    await rig.lab.api('POST', `/v1/calls/${hungUp}/hangup`);
    const calls = await Promise.all([...ids, hungUp].map((id) => rig.ended(id)));
    t.same(
      [...new Set(calls.map((call) => call.status))].sort(),
      ['busy', 'completed', 'failed'],
      'of all kinds',
    );
    let spent = 0;
    for (const call of calls) {
      const of = rows(call.id);
      const sum = of.reduce((all, row) => all + row.amount, 0);
      const bill = call.billing_amount_milli_cents ?? 0;
      t.equal(sum, 0 - bill, `${call.status}: ${JSON.stringify(of)}`);
      const connected = call.answered_at !== null;
      t.same(
        of.map((row) => row.kind),
        ['reserve', connected ? 'settle' : 'release'],
      );
      t.equal(call.reservation_status, connected ? 'settled' : 'released');
      // By the second, rounded up to a whole milli-cent: 100 a second at this price.
      if (connected) t.equal(bill, (call.billed_duration_seconds ?? -1) * 100);
      else t.same([call.billed_duration_seconds, call.billing_amount_milli_cents], [null, null]);
      spent += bill;
    }
    t.ok(spent > 0);
    t.same(await credit(), { balance_milli_cents: 20 * HOLD - spent, held_milli_cents: 0 });
    t.equal(ledgerSum(), 20 * HOLD - spent, 'the balance is the sum of all rows');

    const talked = await until('the cost', async () => {
      const call = calls.find((one) => one.hangup_cause === 'agent_ended');
      return call === undefined ? null : call;
    });
    const cost = talked.cost;
    t.match(cost, {
      estimate: true,
      as_of: /^\d{4}-\d\d-\d\d$/,
      carrier: { name: 'twilio', used: { minutes: 1 } },
    });
    t.ok((cost?.model.used.output_audio_tokens ?? 0) > 0, 'what the model spoke');
    t.ok((cost?.transcription.used.seconds ?? 0) > 0, 'what was written down');
    t.ok((cost?.extraction.used.output_tokens ?? 0) > 0, 'what was extracted');
    t.ok((cost?.model.used.cached_text_tokens ?? 0) <= (cost?.model.used.input_text_tokens ?? 0));
    // The numbers of the tests are nobody's: +1 555 counts as the United States.
    t.equal(
      cost?.total_milli_cents,
      [cost?.model, cost?.transcription, cost?.extraction, cost?.carrier].reduce(
        (sum, part) => sum + (part?.milli_cents ?? Number.NaN),
        0,
      ),
    );
    const told = rig.events(talked.id).find((event) => event.type === 'call.completed');
    t.same(told?.body.cost, cost, 'the webhook tells the same');
  });

  t.test('without a balance nothing is refused', async (t) => {
    await setBalance(null);
    const { status, body } = await rig.lab.api<PublicCall>('POST', '/v1/calls', {
      agent_id: agent.id,
      to: '+15550207777',
    });
    t.equal(status, 201);
    await rig.lab.api('POST', `/v1/calls/${body.id}/cancel`);
    t.ok(ENDED.includes((await rig.call(body.id)).status));
    t.match(rows(body.id), [{ amount: -HOLD }, { amount: HOLD }]);
  });
});
