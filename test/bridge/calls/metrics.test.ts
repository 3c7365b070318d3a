// What is counted of those who spoke into the agent's voice, and of gaps in a call's sound.
import { Registry } from 'prom-client';
import t from 'tap';
import { observeBridge } from '../../../bridge/calls/metrics.ts';
import { makeInterruption } from '../../storage/makers.ts';

t.test('sounds that were none: how long the voice was lowered and paused for them', async (t) => {
  const registry = new Registry();
  const observer = observeBridge(registry, () => null);
  const tell = (fields: Parameters<typeof makeInterruption>[1]) =>
    observer.interruption?.(makeInterruption('call', fields));
  const passed = { at_ms: 3_000, held_ms: 2_000, paused_ms: null, taken_back: true };
  tell(passed);
  tell({ ...passed, paused_ms: 2_600 });
  // The answer began as somebody seemed to speak.
  tell({ ...passed, paused_ms: 2_000 });
  tell({ ...passed, held_ms: null });
  tell({ taken_back: false, onset_ms: 1_000, silenced_ms: 1_450 });
  const told = await registry.metrics();
  const value = (name: string) => {
    const line = told.split('\n').find((one) => one.startsWith(`${name} `));
    return line === undefined ? null : Math.round(Number(line.split(' ').at(-1)) * 1000) / 1000;
  };
  t.equal(value('offhook_barge_ins_total'), 1);
  t.equal(value('offhook_barge_in_silenced_seconds_sum'), 0.45);
  t.equal(value('offhook_barge_ins_taken_back_total'), 4);
  t.equal(value('offhook_voice_held_seconds_count{how="lowered"}'), 2);
  t.equal(value('offhook_voice_held_seconds_sum{how="lowered"}'), 1.6);
  t.equal(value('offhook_voice_held_seconds_count{how="paused"}'), 2);
  t.equal(value('offhook_voice_held_seconds_sum{how="paused"}'), 1.4);
});

t.test('gaps in the sound: how many of which kind, how they ended, how long', async (t) => {
  const registry = new Registry();
  const observer = observeBridge(registry, () => null);
  observer.gap?.('stream_lost', 0.8, 'resumed');
  observer.gap?.('stream_lost', 0.7, 'resumed');
  observer.gap?.('stream_lost', 20, 'call_ended');
  observer.gap?.('daemon_restart', 2, 'resumed');
  const told = (await registry.metrics()).split('\n');
  for (const line of [
    'offhook_call_gaps_total{why="stream_lost",ended="resumed"} 2',
    'offhook_call_gaps_total{why="stream_lost",ended="call_ended"} 1',
    'offhook_call_gaps_total{why="daemon_restart",ended="resumed"} 1',
    'offhook_call_gap_seconds_sum{why="stream_lost"} 21.5',
    'offhook_call_gap_seconds_bucket{le="1",why="stream_lost"} 2',
  ])
    t.ok(told.includes(line), line);
});
