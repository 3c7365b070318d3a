// What the API shows of a record: the fields of the interface specification in its order, and never a secret.
import t from 'tap';
import { callView } from '../../storage/call-view.ts';
import { agentView, attemptView, deliveryView, endpointView, numberView } from '../../storage/views.ts';
import { SPECIFIED_FIELDS } from '../specified-fields.ts';
import { makeAgent, makeCall, makeEndpoint, makeNumber, START } from './makers.ts';

function shows(what: keyof typeof SPECIFIED_FIELDS, view: object, record: object): void {
  t.test(`${what}: the specified fields in their order`, (t) => {
    t.strictSame(Object.keys(view), SPECIFIED_FIELDS[what]);
    for (const [field, value] of Object.entries(view)) {
      if (field !== 'numbers') t.strictSame(value, (record as Record<string, unknown>)[field], field);
    }
    t.notMatch(JSON.stringify(view), /whsec_|PN\d|SECRET/, 'nothing of our own');
    t.end();
  });
}

const number = {
  ...makeNumber('org'),
  inbound_agent_id: null,
  outbound_agent_ids: ['a'],
};
const disclosure = { mode: 'custom', text: 'This is a machine.' } as const;
const agent = { ...makeAgent('org', { disclosure }), numbers: [number] };
const call = makeCall('org', { recording_path: 'SECRET.wav', carrier_call_id: 'SECRET' });
const endpoint = makeEndpoint('org', { previous_secret: 'whsec_old' });
const delivery = {
  id: 'd',
  org_id: 'org',
  endpoint_id: null,
  call_id: 'c',
  event_id: 'SECRET',
  event_type: 'call.busy' as const,
  url: 'https://a.example.com',
  status: 'pending' as const,
  attempt_count: 1,
  attempts_before: 0,
  manual_retry_count: 0,
  next_attempt_at: START,
  last_error: null,
  last_response_status: null,
  delivered_at: null,
  created_at: START,
  updated_at: START,
};

shows('call', callView(call), call);
shows('agent', agentView(agent), agent);
shows('number', numberView(number), number);
shows('endpoint', endpointView(endpoint), endpoint);
shows('delivery', deliveryView(delivery), delivery);

t.test('who says first what is usual is shown with what that is, by its type', (t) => {
  for (const [type, mode] of [
    ['outbound', 'standard'],
    ['inbound', 'off'],
  ] as const)
    t.strictSame(agentView({ ...agent, type, disclosure: null }).disclosure, { mode, text: null });
  t.end();
});

t.test("an agent's numbers are shown like any number", (t) => {
  t.strictSame(agentView(agent).numbers, [numberView(number)]);
  t.end();
});

t.test('an attempt: when, how long, what came back', (t) => {
  const attempt = {
    id: 'a',
    delivery_id: 'd',
    attempt: 2,
    started_at: START,
    latency_ms: 7,
    response_status: 503,
    error: 'HTTP 503',
    response_excerpt: 'busy',
  };
  const { delivery_id: _, ...shown } = attempt;
  t.strictSame(attemptView(attempt), shown);
  t.end();
});
