// What happened on a call in the order of time, and what was sent of it: masked where it opens something, cut where it is long.
import t from 'tap';
import { callTimeline, placeOf, sentText } from '../../../../control/dashboard/app/call-timeline.ts';
import type { CallEvent, TranscriptItem } from '../../../../control/sdk/index.ts';

const event = (type: CallEvent['type'], second: number): CallEvent => ({
  id: type,
  type,
  sequence: second,
  created_at: `2026-03-01T12:00:0${second}.000Z`,
  deliveries: [],
});
const item = (role: TranscriptItem['role'], text: string, startMs: number): TranscriptItem => ({
  id: text,
  role,
  text,
  heard_text: text,
  interrupted: false,
  // The sound begins two seconds after the call.
  started_at: new Date(Date.parse('2026-03-01T12:00:02.000Z') + startMs).toISOString(),
  start_ms: startMs,
  end_ms: startMs + 100,
});

t.test('events, tools, keys and gaps stand in the order of time; words do not', async (t) => {
  const moments = callTimeline(
    {
      status: 'completed',
      hangup_cause: 'remote_hangup',
      gaps: [{ started_at: '2026-03-01T12:00:05.500Z', from_ms: 3_500, to_ms: 4_320, why: 'stream_lost' }],
    },
    [event('call.queued', 0), event('call.answered', 2), event('call.completed', 9)],
    [
      item('agent', 'Hello.', 500),
      item('tool', JSON.stringify({ name: 'book', arguments: '{"day":1}', output: '"ok"', ok: true }), 2_000),
      item('tool', 'send_dtmf: 12', 3_000),
      item('system', 'The caller pressed 1.', 5_000),
    ],
  );
  t.same(
    moments.map((one) => [one.is, one.title, one.note, placeOf(one)]),
    [
      ['event', 'Accepted, waits to be dialled', null, null],
      ['event', 'Answered', null, null],
      ['tool', 'Tool book answered', null, '0:02'],
      ['tool', 'Tool send_dtmf', '12', '0:03'],
      ['gap', 'The line to the carrier broke', 'No sound for 820 ms', '0:03'],
      ['said', 'The caller pressed 1.', null, '0:05'],
      ['ended', 'Ended', 'The other side hung up', null],
    ],
  );
  t.equal(moments[1]?.code, 'call.answered');
});

t.test('events of one moment keep their order', async (t) => {
  const moments = callTimeline(
    { status: 'failed', hangup_cause: null, gaps: [] },
    [event('call.queued', 0), { ...event('call.failed', 0), sequence: 2 }],
    [],
  );
  t.same(
    moments.map(({ code, note }) => [code, note]),
    [
      ['call.queued', null],
      ['call.failed', null],
    ],
  );
});

t.test('what was sent can be looked at: nothing that opens something, nothing without end', async (t) => {
  const shown = sentText({
    id: 'x',
    context: { api_key: 'sk_live', Authorization: 'Bearer x', nested: [{ password: 'p', secret_at: null }] },
    prompt: 'a'.repeat(1_000),
  });
  for (const secret of ['sk_live', 'Bearer x', '"p"']) t.notOk(shown.includes(secret), secret);
  t.match(shown, /"secret_at": null/);
  t.match(shown, /a{400}… \(600 characters more\)/);
  t.equal(sentText('{"token":"x"}'), '{\n  "token": "••••••"\n}');
  t.equal(sentText('plain <b>text</b>'), 'plain <b>text</b>');
  t.equal(sentText('12'), '12');
  const long = sentText(Array.from({ length: 9_000 }, (_, at) => at));
  t.ok(long.length < 20_100 && / characters more$/.test(long));
});
