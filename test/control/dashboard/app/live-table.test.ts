// Which of the calls on the line the table shows, and in which order.
import t from 'tap';
import {
  lastWords,
  shownCalls,
  sortText,
  stateOf,
  viewOf,
} from '../../../../control/dashboard/app/live-table.ts';
import type { LiveCall } from '../../../../control/dashboard/app/session-shapes.ts';

const GAP = { from_ms: 1, to_ms: null, why: 'stream_lost', started_at: '2026-03-01T12:00:01.000Z' } as const;

const call = (id: string, fields: Partial<LiveCall> = {}): LiveCall => ({
  id,
  status: 'in_progress',
  direction: 'inbound',
  from_number: '+14155550100',
  to_number: '+14155550999',
  agent_id: null,
  created_at: '2026-03-01T12:00:00.000Z',
  answered_at: null,
  hangup_cause: null,
  error_code: null,
  gaps: [],
  agent_name: 'Front desk',
  floor: 'nobody',
  last_latency_ms: null,
  words: [],
  source: 'phone',
  ...fields,
});

const said = (role: 'agent' | 'caller' | 'tool', text: string): LiveCall['words'][number] => ({
  id: text,
  role,
  text,
  heard_text: text,
  interrupted: false,
  started_at: '2026-03-01T12:00:00.000Z',
  start_ms: 0,
  end_ms: 1,
});

const CALLS = [
  call('a', { created_at: '2026-03-01T12:00:01.000Z', last_latency_ms: 900, floor: 'agent' }),
  call('b', {
    created_at: '2026-03-01T12:00:03.000Z',
    direction: 'outbound',
    to_number: '+493012345678',
    agent_name: 'Reminder',
    floor: 'caller',
    words: [said('agent', 'Will you come?'), said('caller', 'On Tuesday, yes.'), said('tool', 'find()')],
  }),
  call('c', {
    created_at: '2026-03-01T12:00:02.000Z',
    status: 'ringing',
    floor: null,
    last_latency_ms: 1200,
  }),
  call('d', { created_at: '2026-03-01T11:00:00.000Z', answered_at: '2026-03-01T12:00:04.000Z', gaps: [GAP] }),
];

const shown = (address: string) =>
  shownCalls(CALLS, viewOf(new URLSearchParams(address)))
    .map(({ id }) => id)
    .join('');

t.test('orders, by the address', async (t) => {
  for (const [address, ids] of [
    ['', 'dbca'],
    ['sort=-since', 'acbd'],
    ['sort=nonsense', 'dbca'],
    ['sort=latency', 'cadb'],
    ['sort=-latency', 'dbac'],
    ['sort=agent', 'dcab'],
    ['sort=who', 'dcab'],
    ['sort=state', 'dbac'],
  ] as const)
    t.equal(shown(address), ids, address);
});

t.test('filters, by the address', async (t) => {
  for (const [address, ids] of [
    ['state=agent', 'a'],
    ['state=caller', 'b'],
    ['state=waiting', 'c'],
    ['state=lost', 'd'],
    ['state=nobody', ''],
    ['state=nonsense', 'dbca'],
    ['search=tuesday', 'b'],
    ['search=reminder', 'b'],
    ['search=front+desk', 'dca'],
    ['search=30123', 'b'],
    ['search=415+0100', 'dca'],
    ['search=tuesday&state=agent', ''],
    ['search=%20', 'dbca'],
  ] as const)
    t.equal(shown(address), ids, address);
});

t.test('equals stay where they are, whatever order they are told in', async (t) => {
  const many = Array.from({ length: 40 }, (_, at) => call(String(at).padStart(2, '0')));
  const view = viewOf(new URLSearchParams('sort=state'));
  const ids = shownCalls(many, view).map(({ id }) => id);
  t.same(
    shownCalls([...many].reverse(), view).map(({ id }) => id),
    ids,
  );
  t.same(ids, [...ids].sort());
});

t.test('who speaks, and what was said last', async (t) => {
  t.equal(stateOf(call('x', { floor: 'agent', gaps: [GAP] })), 'lost', 'without a line nobody is heard');
  t.equal(stateOf(call('x', { floor: 'agent', gaps: [{ ...GAP, to_ms: 5 }] })), 'agent');
  t.equal(stateOf(call('x', { floor: null })), 'nobody');
  t.equal(stateOf(call('x', { status: 'queued', gaps: [GAP] })), 'waiting');
  t.equal(lastWords(CALLS[1] ?? call('x')), 'On Tuesday, yes.', 'a tool says nothing');
  t.equal(lastWords(call('x')), '');
});

t.test('the order goes back into the address as it came', async (t) => {
  for (const sort of ['-since', 'latency', '-who', 'agent', '-state'])
    t.equal(sortText(viewOf(new URLSearchParams({ sort }))), sort);
  t.equal(sortText(viewOf(new URLSearchParams(''))), undefined);
});
