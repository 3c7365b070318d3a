// The speech model fails in every way that ends or interrupts a call; the caller is never left in silence without an end.
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openRig, POLITE, until } from './rig.ts';

t.test('model faults', async (t) => {
  const rig = await openRig(t, {
    carrier: {
      defaultCallee: { ringMs: 200 },
      callees: { '+15550500001': { ringMs: 8_000 }, '+15550500002': POLITE },
    },
    env: { MEDIA_THREADS: '1' },
  });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF', returns: { answer: 'string' } });
  const long = await rig.agent({ instructions: 'TEST-LONG', language: 'de' });
  const atCarrier = async (to: string) =>
    (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls.find((call) => call.to === to);
  const newestSession = async () => {
    const { data } = await lab.ask<{ data: { id: string; open: boolean; configured: boolean }[] }>(
      'model',
      '/sessions',
    );
    return data.filter((session) => session.open && session.configured).at(-1);
  };

  await t.test(
    'refused while the phone rings: nobody is bothered, the call has failed and says why',
    async (t) => {
      await lab.ask('model', '/faults', {
        kind: 'upgrade_status',
        status: 401,
        code: 'invalid_api_key',
        times: 3,
      });
      const call = await rig.ended((await rig.dial(agent.id, '+15550500001')).id);
      t.match(call, {
        status: 'failed',
        answered_at: null,
        error_code: 'model_refused',
        hangup_cause: 'model_failed',
        reservation_status: 'released',
      });
      t.match(call.error_message, /\w/);
      const report = await until('the carrier to end it', async () => {
        const found = await atCarrier(call.to_number);
        return found?.endedAtMs == null ? null : found;
      });
      t.equal(report.answeredAtMs, null);
      const told = () => rig.events(call.id).filter((event) => event.type === 'call.failed');
      await until('its webhook', () => told().length > 0);
      t.equal(told().length, 1);
      await lab.ask('model', '/faults', undefined, 'DELETE');
    },
  );

  await t.test(
    'the socket breaks in the middle of the talk: a new session goes on where the old one stopped',
    async (t) => {
      const dialled = await rig.dial(agent.id, '+15550500002');
      await until('the greeting to be heard', async () => (await rig.transcript(dialled.id))[0]?.heard_text);
      const before = await newestSession();
      await lab.ask('model', '/faults', { kind: 'tcp_reset', session: before?.id, trigger: 'now' });
      const call = await rig.ended(dialled.id);
      t.match(call, { status: 'completed', error_code: null, hangup_cause: 'agent_ended' });
      const { data } = await lab.ask<{
        data: {
          id: string;
          items: { role: string; generated_text?: string; content: { text?: string }[] }[];
          violations: unknown[];
        }[];
      }>('model', '/sessions');
      const after = data.at(-1);
      t.not(after?.id, before?.id);
      t.same(after?.violations, []);
      t.match(JSON.stringify(after?.items[0]), /automated assistant/, 'it was told what had been said');
      const greetings = (await rig.transcript(call.id)).filter((line) => /How can I help/.test(line.text));
      t.equal(greetings.length, 1, 'and does not greet again');
    },
  );

  await t.test('the model is gone for good: a spoken line, then an honest end', async (t) => {
    const dialled = await rig.dial(long.id, '+15550500003');
    await until('the talk', async () => (await rig.call(dialled.id)).status === 'in_progress');
    const session = await until('its session', newestSession);
    await lab.ask('model', '/faults', [
      { kind: 'upgrade_status', status: 503, times: 50 },
      { kind: 'tcp_reset', session: session.id, trigger: 'now' },
    ]);
    const call = await rig.ended(dialled.id, 60_000);
    t.match(call, {
      status: 'failed',
      error_code: /^model_/,
      hangup_cause: 'model_failed',
      reservation_status: 'settled',
    });
    const report = await atCarrier(call.to_number);
    t.match(
      JSON.stringify(report?.spoken),
      /technisches Problem/,
      'the other side was told, in the language of its agent',
    );
    await lab.ask('model', '/faults', undefined, 'DELETE');
  });

  await t.test('errors that harm nothing pass; a failed response is asked for again', async (t) => {
    await lab.ask('model', '/faults', [
      {
        kind: 'response_failed',
        error_type: 'rate_limit',
        code: 'rate_limit_exceeded',
        message: 'Try again in 200ms.',
      },
      { kind: 'unknown_event', trigger: 'configured' },
      { kind: 'malformed_json', trigger: 'response' },
      { kind: 'duplicate_events', trigger: 'configured' },
    ]);
    const call = await rig.ended((await rig.dial(agent.id, '+15550500002')).id);
    t.match(call, { status: 'completed', error_code: null, hangup_cause: 'agent_ended' });
    t.match((await rig.transcript(call.id))[0], {
      role: 'agent',
      interrupted: false,
      text: /automated assistant/,
    });
  });

  await t.test(
    'the caller`s words are never written down: the call ends all the same, and the turn says so',
    async (t) => {
      await lab.ask('model', '/faults', { kind: 'transcription_failed', code: 'x', message: 'no', times: 5 });
      const call = await rig.ended((await rig.dial(agent.id, '+15550500002')).id);
      t.equal(call.status, 'completed');
      t.match(
        (await rig.transcript(call.id)).find((line) => line.role === 'caller'),
        { text: '[unintelligible]' },
      );
      await lab.ask('model', '/faults', undefined, 'DELETE');
    },
  );
});
