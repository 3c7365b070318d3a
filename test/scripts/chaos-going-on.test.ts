// What a campaign takes for a talk that went on, by table.
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { type Hit, hitsOf } from '../../scripts/chaos/going-on.ts';

const CREATED = Date.parse('2026-01-01T00:00:00.000Z');
const stream = (startedMs: number, endedMs: number | null) => ({ startedMs, endedMs });
const spurt = (startMs: number, endMs: number) => ({ startMs, endMs });

/** Answered 1 s after its creation; its first stream began 0.5 s later. Spurts are in ms since the answer. */
function report(o: {
  streams: ReturnType<typeof stream>[];
  agent?: ReturnType<typeof spurt>[];
  person?: ReturnType<typeof spurt>[];
  ended?: [ms: number, by: string];
}): CallReport {
  return {
    sid: 'CA1',
    createdAt: new Date(CREATED).toISOString(),
    answeredAtMs: 1000,
    endedAtMs: o.ended?.[0] ?? null,
    endedBy: o.ended?.[1] ?? null,
    endedWhy: o.ended === undefined ? null : 'because',
    streams: o.streams,
    conversation: { agentSpurts: o.agent ?? [], calleeSpurts: o.person ?? [] },
  } as unknown as CallReport;
}
const line = (role: string, start_ms: number, end_ms: number | null, words = 0) => ({
  role,
  text: 'one two three four five six seven eight nine ten eleven twelve',
  heard_text: Array.from({ length: words }, () => 'word').join(' '),
  start_ms,
  end_ms,
});
const broken = { atMs: CREATED + 20_000, backMs: CREATED + 21_000 };

t.test('a talk that a break finds goes on, is left, or is lost', (t) => {
  const before = stream(1500, 20_010);
  const after = stream(21_300, null);
  const cases: [string, CallReport, Partial<Hit> | null][] = [
    [
      'heard again',
      report({ streams: [before, after], agent: [spurt(20_700, 22_000)] }),
      {
        outcome: 'gone_on',
        gapMs: 1300,
        silenceMs: 700,
      },
    ],
    [
      'the person spoke first: silence counts from their last word',
      report({
        streams: [before, after],
        agent: [spurt(24_000, 25_000)],
        person: [spurt(20_500, 23_400), spurt(26_000, 27_000)],
      }),
      { outcome: 'gone_on', silenceMs: 600 },
    ],
    [
      'no other stream',
      report({ streams: [before], ended: [22_000, 'application'] }),
      { outcome: 'lost', why: 'no other stream; because (by application)', gapMs: null, silenceMs: null },
    ],
    [
      'another stream and not a word',
      report({ streams: [before, after], agent: [spurt(2_000, 3_000)] }),
      { outcome: 'lost', why: 'another stream, and the agent was not heard; still live (by nobody)' },
    ],
    [
      'the person spoke until the end, and was listened to',
      report({ streams: [before, after], person: [spurt(21_000, 28_000)], ended: [30_000, 'callee'] }),
      { outcome: 'gone_on', silenceMs: null },
    ],
    ['left by the person', report({ streams: [before], ended: [22_000, 'callee'] }), { outcome: 'left' }],
    ['over before it', report({ streams: [stream(1500, 18_000)], ended: [18_000, 'callee'] }), null],
    ['in a gap already', report({ streams: [stream(1500, 15_000), stream(22_000, null)] }), null],
    ['not settled yet', report({ streams: [stream(19_800, null)] }), null],
  ];
  for (const [name, told, wanted] of cases) {
    const hits = hitsOf({ report: told, transcript: [] }, [broken]);
    if (wanted === null) t.same(hits, [], name);
    else t.match(hits, [wanted], name);
  }
  t.end();
});

t.test('what is heard after the next break is not this one’s', (t) => {
  const next = { atMs: CREATED + 40_000, backMs: CREATED + 41_000 };
  const told = report({
    streams: [stream(1500, 20_000), stream(21_300, 40_000), stream(41_500, null)],
    agent: [spurt(40_700, 42_000)],
  });
  t.match(hitsOf({ report: told, transcript: [] }, [broken, next]), [
    { outcome: 'lost' },
    { outcome: 'gone_on' },
  ]);
  t.end();
});

t.test('words spoken aloud before a break are in the transcript, but for the last moment', (t) => {
  const streams = [stream(1500, 20_000), stream(21_300, null)];
  // From 18 s to 20 s after the creation: from 16.5 s of the stream's time on, 1.5 s of it long enough before.
  const agent = [spurt(2_000, 5_000), spurt(17_000, 19_000), spurt(20_800, 21_000)];
  // 250 ms a word.
  const before = { ...line('agent', 500, 3_500), heard_text: line('agent', 0, 0).text };
  const lost = (transcript: ReturnType<typeof line>[] | null, person: ReturnType<typeof spurt>[] = []) =>
    hitsOf({ report: report({ streams, agent, person }), transcript }, [broken])[0];
  t.match(lost([before, line('agent', 16_500, null, 6)]), { agentWordsLost: 0 }, 'all of them');
  t.match(
    lost([before, line('agent', 16_500, 18_000, 2)]),
    { agentWordsLost: 0 },
    'an estimate claims fewer',
  );
  t.match(lost([before, line('agent', 16_500, null, 0)]), { agentWordsLost: 2 });
  t.match(lost([before]), { agentWordsLost: 2 }, 'nothing of it');
  const next = line('agent', 17_000, 18_500, 0);
  t.match(lost([before, line('agent', 16_500, 18_500, 6), next]), { agentWordsLost: 0 }, 'the next is there');
  t.match(lost(null), { agentWordsLost: 0, turnsLost: 0 }, 'a call that nobody knows is told elsewhere');
  const turn = [spurt(10_000, 12_000)];
  t.match(lost([line('agent', 16_500, 18_500)], turn), { turnsLost: 1 });
  t.match(lost([line('caller', 9_600, 11_400)], turn), { turnsLost: 0 });
  t.match(lost([], [spurt(15_000, 18_000)]), { turnsLost: 0 }, 'it may not have been over');
  t.end();
});
