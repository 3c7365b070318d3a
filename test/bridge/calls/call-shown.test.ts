// What watchers are told of a step: once for each gap that is over, and of a call that shows something new.
import t from 'tap';
import { gapsOver, showStep } from '../../../bridge/calls/call-shown.ts';
import type { CallGap, CallRecord } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';

const AT = '2026-03-01T12:00:10.000Z';
const gap = (fields: Partial<CallGap> = {}): CallGap => ({
  why: 'stream_lost',
  started_at: AT,
  from_ms: 4_000,
  to_ms: null,
  ...fields,
});
const talking = (gaps: CallGap[], fields: Partial<CallRecord> = {}) =>
  makeCall('o', { id: 'c', status: 'in_progress', gaps, ...fields });
const over = (gaps: CallGap[]) =>
  talking(gaps, { status: 'failed', ended_at: '2026-03-01T12:00:30.500Z', hangup_cause: 'stream_lost' });
const closed = gap({ to_ms: 4_800 });
const resumed = { why: 'stream_lost', seconds: 0.8, ended: 'resumed' };

t.test('a gap is over once: when the line is back, or when the call ends in it', async (t) => {
  const table: [string, CallRecord, CallRecord, object[]][] = [
    ['opened', talking([]), talking([gap()]), []],
    ['goes on', talking([gap()]), talking([gap()]), []],
    ['back', talking([gap()]), talking([closed]), [resumed]],
    ['told of before', talking([closed]), talking([closed]), []],
    ['opened and closed by one step', talking([]), talking([closed]), [resumed]],
    ['the next one', talking([closed, gap()]), talking([closed, closed]), [resumed]],
    ['clocks that differ', talking([gap()]), talking([gap({ to_ms: 3_990 })]), [{ ...resumed, seconds: 0 }]],
    [
      'the call ends in it',
      talking([closed, gap()]),
      over([closed, gap()]),
      [{ why: 'stream_lost', seconds: 20.5, ended: 'call_ended' }],
    ],
    ['lost and over in one step', talking([]), over([gap()]), [{ ended: 'call_ended' }]],
    ['written again after the end', over([gap()]), over([gap()]), []],
    ['ended later, without a gap', talking([closed]), over([closed]), []],
  ];
  for (const [name, before, after, told] of table) {
    const found = gapsOver(before, after);
    t.match(found, told, name);
    t.equal(found.length, told.length, `${name}: no more than that`);
  }
});

t.test('a call is shown anew when something happened, and when a gap began or is over', async (t) => {
  const told = (before: CallRecord, after: CallRecord, happened: boolean) => {
    const heard: string[] = [];
    const observer = {
      changed: () => void heard.push('changed'),
      ended: () => void heard.push('ended'),
      gap: (why: string, seconds: number, how: string) => void heard.push(`${why} ${seconds} ${how}`),
    };
    const log = { info: (_fields: unknown, event: string) => void heard.push(event) };
    showStep({ observer, log: log as never }, before, after, happened);
    return heard;
  };
  t.same(told(talking([]), talking([]), false), []);
  t.same(told(talking([]), talking([]), true), ['changed']);
  t.same(told(talking([]), talking([gap()]), false), ['changed']);
  t.same(told(talking([gap()]), talking([gap()]), false), []);
  t.same(told(talking([gap()]), talking([closed]), false), ['stream_lost 0.8 resumed', 'changed']);
  t.same(told(talking([gap()]), over([gap()]), true), ['stream_lost 20.5 call_ended', 'call.ended', 'ended']);
  t.same(told(over([]), over([]), true), []);
});
