// Calls now, as the events of the live stream make them.
import t from 'tap';
import { fold, type LiveState } from '../../../../control/dashboard/app/live-state.ts';
import type { LiveCall } from '../../../../control/dashboard/app/session-shapes.ts';
import type { TranscriptItem, Turn } from '../../../../control/sdk/index.ts';

const call = (id: string, fields: Partial<LiveCall> = {}): LiveCall => ({
  id,
  status: 'in_progress',
  direction: 'inbound',
  from_number: '+15551234567',
  to_number: '+15557654321',
  agent_id: null,
  created_at: '2026-03-01T12:00:00.000Z',
  answered_at: null,
  hangup_cause: null,
  error_code: null,
  gaps: [],
  agent_name: null,
  floor: null,
  last_latency_ms: null,
  words: [],
  source: 'phone',
  ...fields,
});
const item = (id: string, start_ms: number, text = id): TranscriptItem => ({
  id,
  role: 'caller',
  text,
  heard_text: text,
  interrupted: false,
  started_at: '2026-03-01T12:00:00.000Z',
  start_ms,
  end_ms: null,
});
const turn = (latency_ms: number | null) => ({ latency_ms }) as Turn;
const start: LiveState = fold(new Map(), { type: 'snapshot', data: { calls: [call('a')] } });

t.test('a snapshot replaces all that was known', async (t) => {
  const next = fold(start, { type: 'snapshot', data: { calls: [call('b')] } });
  t.same([...next.keys()], ['b']);
});

t.test('floor, latency and words change their call, and only it', async (t) => {
  let state = fold(start, { type: 'call', data: call('b') });
  state = fold(state, { type: 'floor', data: { call_id: 'a', floor: 'agent', at_ms: 1 } });
  state = fold(state, { type: 'turn', data: { call_id: 'a', turn: turn(640) } });
  state = fold(state, { type: 'turn', data: { call_id: 'a', turn: turn(null) } });
  state = fold(state, { type: 'words', data: { call_id: 'a', item: item('1', 500) } });
  t.match(state.get('a'), { floor: 'agent', last_latency_ms: 640, words: [{ id: '1' }] });
  t.match(state.get('b'), { floor: null, last_latency_ms: null, words: [] });
  t.equal(start.get('a')?.floor, null, 'the state before is as it was');
});

t.test('words: in speech order, each once in its newest form, the last ones only', async (t) => {
  let state = start;
  const say = (one: TranscriptItem) => {
    state = fold(state, { type: 'words', data: { call_id: 'a', item: one } });
  };
  say(item('2', 2000));
  say(item('1', 1000));
  say(item('2', 2000, 'two'));
  t.same(
    state.get('a')?.words.map(({ text }) => text),
    ['1', 'two'],
  );
  for (let at = 3; at <= 9; at++) say(item(String(at), at * 1000));
  t.same(
    state.get('a')?.words.map(({ id }) => id),
    ['4', '5', '6', '7', '8', '9'],
  );
  // What the bridge tells of the call beside does not lose newer words.
  state = fold(state, {
    type: 'call',
    data: call('a', { words: [item('8', 8000, 'old')], floor: 'caller' }),
  });
  t.equal(state.get('a')?.words.length, 6);
  t.equal(state.get('a')?.floor, 'caller');
});

t.test('an end takes the call away; news of a call that is not known change nothing', async (t) => {
  t.equal(fold(start, { type: 'ended', data: { call: call('a', { status: 'completed' }) } }).size, 0);
  for (const state of [
    fold(start, { type: 'floor', data: { call_id: 'x', floor: 'agent', at_ms: 1 } }),
    fold(start, { type: 'words', data: { call_id: 'x', item: item('1', 1) } }),
    fold(start, { type: 'turn', data: { call_id: 'x', turn: turn(5) } }),
  ]) {
    t.same([...state.keys()], ['a']);
  }
});
