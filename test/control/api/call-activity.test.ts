// How a call went, as /v1 tells it: its turns stage by stage, its events with their deliveries.
import t from 'tap';
import { makeInterruption, makeTurn } from '../../storage/makers.ts';
import { openRig } from '../rig.ts';

t.test('turns: each answer in stages that add up, live until the call is over', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  const { id } = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  const empty = await rig.api('GET', `/v1/calls/${id}/turns`);
  t.same([empty.status, empty.body], [200, { call_id: id, status: 'live', data: [], interruptions: [] }]);
  const greeting = makeTurn(id, { kind: 'greeting', speech_end_ms: null, decided_ms: 1.5, barged_in: true });
  const answer = makeTurn(id, { turn_index: 2 });
  const prompt = makeTurn(id, {
    turn_index: 3,
    kind: 'prompt',
    speech_end_ms: null,
    requested_ms: null,
    first_model_audio_ms: null,
    first_sent_ms: null,
    first_heard_ms: null,
  });
  const interruption = makeInterruption(id);
  const cough = makeInterruption(id, { at_ms: 9_000, taken_back: true, silenced_ms: 9_001.5 });
  await rig.store.saveTurns({
    turns: [greeting, answer, prompt],
    interruptions: [interruption, cough],
  });
  await rig.api('POST', `/v1/calls/${id}/hangup`);
  rig.behaviour.live = () => [{ callId: id, thread: 1, floor: 'none' }];
  t.equal(
    (await rig.api('GET', `/v1/calls/${id}/turns`)).body.status,
    'live',
    'its last turn may still come',
  );
  rig.behaviour.live = () => [];
  const { body } = await rig.api('GET', `/v1/calls/${id}/turns`);
  t.equal(body.status, 'final');
  const { call_id: _a, turn_index: _b, ...times } = answer;
  t.same(body.data[1], {
    ...times,
    index: 2,
    latency_ms: 980.8,
    parts: { end_of_turn_ms: 520.5, request_ms: 0.5, model_ms: 380.9, send_ms: 0.5, playout_ms: 78.4 },
  });
  t.same(
    body.data.map((turn: Record<string, unknown>) => [
      turn.index,
      turn.kind,
      turn.latency_ms,
      turn.barged_in,
    ]),
    [
      [1, 'greeting', 5_640.8, true],
      [2, 'answer', 980.8, false],
      [3, 'prompt', null, false],
    ],
  );
  const { call_id: _c, ...first } = interruption;
  const { call_id: _d, ...second } = cough;
  t.same(body.interruptions, [first, second]);
});

t.test('events: in order, each with whom it was sent to, and no secret of a receiver', async (t) => {
  const rig = await openRig(t, { env: { WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' } });
  const agent = await rig.agent({ webhook_url: 'https://example.com/hook?key=hidden#part' });
  const endpoint = (
    await rig.api('POST', '/v1/webhook_endpoints', {
      body: { url: 'https://example.com/all', enabled_events: ['call.queued'] },
    })
  ).body;
  const { id } = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  const saved = await rig.store.saveCall(id, {
    from: ['initiated'],
    change: { status: 'ringing' },
    events: ['call.ringing'],
  });
  t.notOk('conflict' in saved);
  const [inline] = (await rig.api('GET', `/v1/webhook_deliveries?call_id=${id}&event_type=call.ringing`)).body
    .data;
  const now = rig.now().toISOString();
  t.ok(await rig.store.claimDelivery(inline.id, 0, now, 1_000));
  await rig.store.recordAttempt(inline.id, {
    attempt: {
      started_at: now,
      latency_ms: 3,
      response_status: 503,
      error: 'http_status_503',
      response_excerpt: null,
    },
    status: 'pending',
    nextAttemptAt: '2026-03-01T12:00:05.000Z',
  });
  const answer = await rig.api('GET', `/v1/calls/${id}/events`);
  t.equal(answer.body.call_id, id);
  t.notMatch(answer.text, /hidden|#part/);
  const events = answer.body.data;
  t.same(
    events.map((event: Record<string, unknown>) => [event.type, event.sequence, event.created_at]),
    [
      ['call.queued', 1, now],
      ['call.ringing', 2, now],
    ],
  );
  const untried = {
    status: 'pending',
    attempt_count: 0,
    last_response_status: null,
    last_error: null,
    next_attempt_at: now,
    delivered_at: null,
  };
  t.match(events[0].deliveries, [
    { endpoint_id: null, receiver: 'https://example.com/hook', ...untried },
    { endpoint_id: endpoint.id, receiver: 'https://example.com/all', ...untried },
  ]);
  t.same(events[1].deliveries, [
    {
      id: inline.id,
      endpoint_id: null,
      receiver: 'https://example.com/hook',
      status: 'pending',
      attempt_count: 1,
      last_response_status: 503,
      last_error: 'http_status_503',
      next_attempt_at: '2026-03-01T12:00:05.000Z',
      delivered_at: null,
    },
  ]);

  const toEndpoint = events[0].deliveries[1].id;
  t.ok(await rig.store.claimDelivery(toEndpoint, 0, now, 1_000));
  await rig.store.recordAttempt(toEndpoint, {
    attempt: {
      started_at: now,
      latency_ms: 3,
      response_status: 410,
      error: 'http_status_410',
      response_excerpt: null,
    },
    status: 'exhausted',
  });
  const given = (await rig.api('GET', `/v1/calls/${id}/events`)).body.data[0].deliveries[1];
  t.match(given, { status: 'exhausted', last_response_status: 410, next_attempt_at: null });
});
