// Rules that only a real call or a real carrier shows: capacity, the longest call, the prompt form, results that need a
// second try or fail, a purchase whose answer is lost.
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import type { PublicCall } from '../../storage/call-view.ts';
import type { PublicNumber } from '../../storage/views.ts';
import { openRig, POLITE, until } from './rig.ts';

t.test('call rules', async (t) => {
  const rig = await openRig(t, {
    env: { MAX_CONCURRENT_CALLS: '4', MEDIA_THREADS: '1', CALLER_IDLE_SECONDS: '600' },
    carrier: { callees: { '+15550800009': { ringMs: 200 }, '+15550800002': POLITE, '+15550800003': POLITE } },
  });
  const { lab } = rig;
  const numbers = async () => (await lab.api<{ data: PublicNumber[] }>('GET', '/v1/numbers')).body.data;
  const carrierCalls = async () => (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;

  await t.test('no number, no call by a prompt', async (t) => {
    t.match(await lab.api('POST', '/v1/calls', { to: '+15550800001', instructions: 'TEST-BRIEF' }), {
      status: 400,
      body: { error: { code: 'no_active_number' } },
    });
  });

  await t.test('a purchase whose answer is lost buys once, and a repeat finds the number', async (t) => {
    const found = await lab.api<{ data: { e164: string }[] }>(
      'GET',
      '/v1/numbers/available?country=US&limit=2',
    );
    const [first, second] = found.body.data.map(({ e164 }) => e164);
    await lab.ask('carrier', '/faults', {
      do: 'lose_response',
      method: 'POST',
      path: 'IncomingPhoneNumbers',
    });
    const lost = await lab.api<PublicNumber>('POST', '/v1/numbers/purchase', { e164: first });
    t.ok([201, 502].includes(lost.status), `${lost.status}`);
    const again = await lab.api<PublicNumber>('POST', '/v1/numbers/purchase', { e164: first });
    t.ok(lost.status === 201 ? again.status === 409 : again.status === 201, `${again.status}`);
    t.match(await numbers(), [
      { e164: first, status: 'active', inbound_agent_id: null, outbound_agent_ids: [] },
    ]);
    t.equal((await numbers()).length, 1);
    await lab.api('POST', '/v1/numbers/purchase', { e164: second });
    t.same(
      (await numbers()).map(({ e164 }) => e164),
      [second, first],
      'newest first',
    );
  });

  await t.test('a number that somebody else bought first is 409, and nothing is bought', async (t) => {
    const found = await lab.api<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?limit=1');
    const before = await numbers();
    await lab.ask('carrier', '/faults', { do: 'number_taken' });
    t.match(await lab.api('POST', '/v1/numbers/purchase', { e164: found.body.data[0]?.e164 }), {
      status: 409,
      body: { error: { code: 'number_unavailable', param: 'e164', carrier_code: '21422' } },
    });
    t.same(await numbers(), before);
  });

  await t.test('all lines in use: 503 with Retry-After, and nobody is called', async (t) => {
    const agent = await rig.agent({ instructions: 'TEST-STAY' });
    const calls: PublicCall[] = [];
    for (let line = 0; line < 4; line++) calls.push(await rig.dial(agent.id, '+15550800009'));
    const answer = await lab.api('POST', '/v1/calls', { agent_id: agent.id, to: '+15550800008' });
    t.match(answer, { status: 503, body: { error: { code: 'at_capacity' } } });
    t.match(answer.headers.get('retry-after'), /^\d+$/);
    t.notOk((await carrierCalls()).some(({ to }) => to === '+15550800008'));
    t.same((await lab.api('GET', '/v1/calls?to_number=%2B15550800008')).body, []);
    for (const { id } of calls) await lab.api('POST', `/v1/calls/${id}/hangup`);
    for (const { id } of calls) await rig.ended(id);
  });

  await t.test('by a prompt: no agent, the oldest number; its result comes at the third try', async (t) => {
    const oldest = (await numbers()).at(-1);
    // The model's server fails once, then answers what the schema does not allow, and is asked again.
    await lab.ask('model', '/faults', [
      { kind: 'extraction', mode: 'server_error' },
      { kind: 'extraction', mode: 'schema_violation' },
    ]);
    const { body } = await lab.api<PublicCall>('POST', '/v1/calls', {
      to: '+15550800001',
      instructions: 'TEST-BRIEF Di hola.',
      language: 'es',
      context: { name: 'Ana' },
      returns: { said_goodbye: 'boolean' },
      webhook_url: lab.receiverUrl,
    });
    const call = await rig.ended(body.id);
    t.match(call, {
      agent_id: null,
      from_number: oldest?.e164,
      persona: null,
      instructions: 'TEST-BRIEF Di hola.',
      language: 'es',
      context: { name: 'Ana' },
      status: 'completed',
      result_status: 'completed',
      result: { said_goodbye: true },
      result_error: null,
    });
    t.match(call.prompt, /Spanish/);
    t.notMatch(JSON.stringify(await lab.ask('model', '/faults')), /extraction/, 'both faults have struck');
  });

  /** Nothing ends these calls but the test: the agent says no goodbye, and the person stays on the line. */
  const spoken = (id: string) =>
    until('words of the caller', async () =>
      (await rig.transcript(id)).some(({ role, text }) => role === 'caller' && text !== ''),
    );

  await t.test(
    'a result that the model will not give: failed, saying why, and told all the same',
    async (t) => {
      const gone = await rig.agent({ instructions: 'TEST-STAY', returns: { said_goodbye: 'boolean' } });
      await lab.ask('model', '/faults', { kind: 'extraction', mode: 'refusal', times: 5 });
      const { id } = await rig.dial(gone.id, '+15550800002');
      await spoken(id);
      await lab.api('DELETE', `/v1/agents/${gone.id}`);
      t.equal((await rig.call(id)).status, 'in_progress', 'a live call outlives its agent');
      await lab.api('POST', `/v1/calls/${id}/hangup`);
      const call = await rig.ended(id);
      t.match(call, { status: 'completed', result: null, result_status: 'failed', result_error: /\w/ });
      const event = await until('call.completed', () =>
        rig.events(id).find(({ type }) => type === 'call.completed'),
      );
      t.match(event.body, { result: null, result_status: 'failed', result_error: call.result_error });
      await lab.ask('model', '/faults', undefined, 'DELETE');
    },
  );

  await t.test('a released number answers nobody', async (t) => {
    const [number] = await numbers();
    const inbound = await rig.agent({ type: 'inbound', instructions: 'TEST-BRIEF' });
    const own = (await numbers()).find(({ inbound_agent_id }) => inbound_agent_id === inbound.id);
    t.match(await lab.api('DELETE', `/v1/numbers/${own?.id}`), {
      status: 409,
      body: { error: { code: 'number_attached' } },
    });
    t.match(await lab.api('DELETE', `/v1/agents/${inbound.id}`), {
      status: 200,
      body: { archived_at: /Z$/, numbers: [], primary_number_id: null },
    });
    await lab.ask('carrier', '/inbound-calls', { to: inbound.number, from: '+15550808888', callee: {} });
    const rejected = await until('the rejection', async () =>
      (await carrierCalls()).find(({ from, endedAtMs }) => from === '+15550808888' && endedAtMs !== null),
    );
    t.equal(rejected.answeredAtMs, null, 'an archived agent answers nobody');
    t.match(await lab.api('DELETE', `/v1/numbers/${own?.id}`), { status: 200, body: { status: 'released' } });
    t.not(number?.id, own?.id);
  });

  let pendingId = '';
  await t.test('a call ends, and the model takes its time', async (t) => {
    const agent = await rig.agent({ instructions: 'TEST-STAY', returns: { said_goodbye: 'boolean' } });
    await lab.ask('model', '/faults', { kind: 'extraction', mode: 'timeout' });
    const { id } = await rig.dial(agent.id, '+15550800003');
    await spoken(id);
    await lab.api('POST', `/v1/calls/${id}/hangup`);
    await until(
      'the question',
      async () => !JSON.stringify(await lab.ask('model', '/faults')).includes('timeout'),
    );
    t.match(await rig.call(id), { status: 'completed', result_status: 'pending', result: null });
    pendingId = id;
  });

  await t.test(
    'a result that was pending when the daemon was killed is worked out at the next start',
    async (t) => {
      await lab.daemon.stop('SIGKILL');
      await lab.restartDaemon({ MAX_CALL_SECONDS: '10' });
      const call = await rig.ended(pendingId);
      t.match(call, { status: 'completed', result_status: 'completed', result: { said_goodbye: Boolean } });
      await until('its delivery', async () => (await rig.call(pendingId)).webhook_status === 'delivered');
      t.same(
        rig.events(pendingId).map(({ type }) => type),
        ['call.queued', 'call.ringing', 'call.answered', 'call.completed'],
      );
    },
  );

  await t.test('the longest call is ended, and says so', async (t) => {
    const agent = await rig.agent({ instructions: 'TEST-LONG' });
    const call = await rig.ended((await rig.dial(agent.id, '+15550800009')).id);
    t.match(call, { status: 'completed', hangup_cause: 'max_duration', error_code: null });
    t.ok((call.billed_duration_seconds ?? 0) >= 9, `${call.billed_duration_seconds} s`);
  });
});
