// What a turn's wait was made of, as bars on one scale.
import t from 'tap';
import { answerWaits, PARTS, percentile, waterfall } from '../../../../control/dashboard/app/waterfall.ts';
import type { Turn } from '../../../../control/sdk/index.ts';

const turn = (parts: (number | null)[], fields: Partial<Turn> = {}): Turn => {
  const [end_of_turn_ms = null, request_ms = null, model_ms = null, send_ms = null, playout_ms = null] =
    parts;
  return {
    id: '1',
    index: 1,
    kind: 'answer',
    speech_end_ms: 1000,
    decided_ms: 1300,
    requested_ms: null,
    first_model_audio_ms: null,
    first_sent_ms: null,
    first_heard_ms: null,
    barged_in: false,
    thrown_away: 0,
    latency_ms: null,
    parts: { end_of_turn_ms, request_ms, model_ms, send_ms, playout_ms },
    ...fields,
  };
};

t.test('bars follow each other on one scale, in the order of the parts', async (t) => {
  const { rows, endMs, marks } = waterfall([turn([300, 0, 500, 20, 180]), turn([null, 5, 95, null, null])]);
  t.equal(endMs, 1000);
  t.same(marks, [0, 200, 400, 600, 800, 1000]);
  t.same(
    rows[0]?.bars.map(({ key, left, width }) => [key, left, width]),
    [
      ['end_of_turn_ms', 0, 30],
      ['model_ms', 30, 50],
      ['send_ms', 80, 2],
      ['playout_ms', 82, 18],
    ],
  );
  t.equal(rows[0]?.totalMs, 1000);
  t.same(
    rows[1]?.bars.map(({ key, left, width }) => [key, left, width]),
    [
      ['request_ms', 0, 0.5],
      ['model_ms', 0.5, 9.5],
    ],
  );
});

t.test('no bar leaves the scale, and the scale has few marks, however long the waits', async (t) => {
  for (const ms of [0, 1, 99, 640, 1499, 8_000, 59_000, 400_000]) {
    const { rows, marks } = waterfall([turn([ms, ms / 2, ms, 0, null]), turn([50, -5, 20, 20, 20])]);
    t.ok(marks.length >= 2 && marks.length <= 8, `${ms}: ${marks.length} marks`);
    for (const bar of rows.flatMap((row) => row.bars)) {
      t.ok(bar.left >= 0 && bar.left + bar.width <= 100.000_001, `${ms} ${bar.key}`);
      t.ok(bar.ms > 0);
    }
  }
  t.same(waterfall([]).rows, []);
});

t.test('every part has a name and a colour of its own', async (t) => {
  t.equal(new Set(PARTS.map(({ label }) => label)).size, PARTS.length);
  t.equal(new Set(PARTS.map(({ colour }) => colour)).size, PARTS.length);
});

t.test('the nearest rank', async (t) => {
  // The example of the method's usual description: 15, 20, 35, 40, 50.
  const values = [35, 20, 15, 50, 40];
  t.equal(percentile(values, 0.05), 15);
  t.equal(percentile(values, 0.3), 20);
  t.equal(percentile(values, 0.4), 20);
  t.equal(percentile(values, 0.5), 35);
  t.equal(percentile(values, 1), 50);
  t.equal(percentile([], 0.5), null);
});

t.test('latency is that of answers to speech which were heard', async (t) => {
  t.same(
    answerWaits([
      turn([], { latency_ms: 800 }),
      turn([], { latency_ms: 450, kind: 'greeting', speech_end_ms: null }),
      turn([], { latency_ms: 500, kind: 'prompt', speech_end_ms: null }),
      turn([], { latency_ms: 300, speech_end_ms: null }),
      turn([], { latency_ms: null, barged_in: true }),
    ]),
    [800],
  );
});
