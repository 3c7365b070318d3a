// What a soak reads and what it concludes, on samples whose growth is known.
import t from 'tap';
import type { Account } from '../../scripts/soak/callers.ts';
import { drawSoak } from '../../scripts/soak/picture.ts';
import {
  held,
  joinReadings,
  type Reading,
  readMetrics,
  type Sample,
  toCsv,
} from '../../scripts/soak/samples.ts';
import { judgeCalls, judgeMemory, judgeTime, quantile, slopeAnHour } from '../../scripts/soak/verdict.ts';

const MB = 1024 * 1024;

const METRICS = `# HELP offhook_thread_memory_bytes What each thread holds
offhook_thread_memory_bytes{thread="control",kind="heap_used"} 30000000
offhook_thread_memory_bytes{thread="control",kind="external"} 5000000
offhook_thread_memory_bytes{thread="1",kind="heap_used"} 20000000
offhook_thread_memory_bytes{thread="2",kind="heap_used"} 22000000
process_resident_memory_bytes 400000000
process_open_fds 77
nodejs_active_resources{type="Timeout"} 12
nodejs_active_resources_total 30
nodejs_eventloop_lag_p99_seconds 0.0125
offhook_storage_wal_bytes 4096
offhook_calls_live{thread="1"} 3
offhook_calls_live{thread="2"} 4
offhook_media_calls{thread="1"} 3
offhook_media_calls{thread="2"} 5
offhook_media_frames_in{thread="1"} 900
offhook_media_frames_in{thread="2"} 1100
offhook_media_frames_late{thread="1"} 3
offhook_media_frames_late{thread="2"} 4
offhook_media_loop_delay_p99_seconds{thread="1"} 0.002
offhook_media_loop_delay_p99_seconds{thread="2"} 0.004
offhook_media_loop_delay_max_seconds{thread="1"} 0.009
offhook_media_tick_late_max_seconds{thread="1"} 0.011
offhook_media_tick_late_max_seconds{thread="2"} 1e-3
`;

const READING = readMetrics(METRICS);

/** A sample a minute, each made from the one time `at` gives. */
function samples(minutes: number, at: (minute: number) => Partial<Reading> = () => ({})): Sample[] {
  return Array.from({ length: minutes }, (_, minute) =>
    joinReadings([{ ...READING, ...at(minute) }], {
      seconds: minute * 60,
      callsEnded: minute,
      anonymousBytes: Number.NaN,
    }),
  );
}

const failed = (list: readonly Sample[], settleSeconds = 300) =>
  judgeMemory(list, settleSeconds)
    .filter(({ violations }) => violations.length > 0)
    .map(({ name }) => name);

t.test('reads what is held and how the threads keep time', async (t) => {
  t.match(READING, {
    residentBytes: 400_000_000,
    fds: 77,
    handles: 30,
    walBytes: 4096,
    callsLive: 7,
    callsHeld: 8,
    framesIn: 2000,
    framesLate: 7,
    mediaLoopMaxMs: 9,
    tickLateMaxMs: 11,
  });
  t.equal(READING.mediaLoopP99Ms, 4, 'the worst thread');
  t.equal(READING.controlLoopP99Ms, 12.5);
  t.ok(Number.isNaN(READING.frameAgeP99Ms), 'no frame came');
  t.equal(held(READING, 'media', 'heap_used'), 42_000_000);
  t.equal(held(READING, 'control', 'external'), 5_000_000);
});

t.test('a sample holds the last memory and the worst delay of its readings', async (t) => {
  const joined = joinReadings(
    [
      { ...READING, mediaLoopP99Ms: 50, frameAgeP99Ms: 8 },
      { ...READING, residentBytes: 5, frameAgeP99Ms: Number.NaN },
    ],
    { seconds: 10, callsEnded: 2, anonymousBytes: 3 },
  );
  t.match(joined, { seconds: 10, callsEnded: 2, anonymousBytes: 3, residentBytes: 5 });
  t.equal(joined.mediaLoopP99Ms, 50);
  t.equal(joined.frameAgeP99Ms, 8);
  t.throws(() => joinReadings([], { seconds: 0, callsEnded: 0, anonymousBytes: 0 }), RangeError);
});

t.test('a CSV has a column for each thread and kind, and an empty cell for what is not known', async (t) => {
  const [head = '', row = ''] = toCsv(samples(1)).split('\n');
  const cells = Object.fromEntries(head.split(',').map((name, index) => [name, row.split(',')[index]]));
  t.match(cells, { residentBytes: '400000000', '2_heap_used': '22000000', frameAgeP99Ms: '' });
});

t.test('memory: the second half against the first', async (t) => {
  t.same(failed(samples(120)), [], 'what stays holds');
  t.same(
    failed(samples(120, (minute) => ({ residentBytes: (400 + (minute * 236) / 60) * MB }))),
    ['resident set'],
    '236 MB an hour are found',
  );
  t.same(
    failed(samples(120, (minute) => ({ residentBytes: Math.min(400, 200 + minute * 50) * MB }))),
    [],
    'what rises at the start only is the start',
  );
  const sawtooth = (floorMb: (minute: number) => number) =>
    samples(120, (minute) => ({
      memory: { control: {}, 1: { heap_used: (floorMb(minute) + (minute % 5) * 10) * MB } },
    }));
  t.same(failed(sawtooth(() => 20)), [], 'garbage that is collected is no growth');
  t.same(failed(sawtooth((minute) => 20 + minute / 10)), ['media threads: heap after collections']);
  t.same(failed(samples(120, (minute) => ({ fds: 70 + minute }))), ['open files']);
  t.same(failed(samples(120, () => ({ walBytes: 65 * MB }))), ['write-ahead log, at most']);
  t.same(judgeMemory(samples(5), 300), [], 'too short a run says nothing');
  const slope = slopeAnHour(
    samples(60, (minute) => ({ residentBytes: 1000 + minute })),
    (sample) => sample.residentBytes,
  );
  t.ok(Math.abs(slope - 60) < 1e-6);
});

t.test('time: the worst hundredth of the seconds counts, and the latest of the frames', async (t) => {
  const seconds = (late: number) =>
    Array.from({ length: 1000 }, (_, i) => ({
      ...READING,
      frameAgeP99Ms: 4,
      mediaLoopP99Ms: i < late ? 100 : 2,
    }));
  t.equal(judgeTime(seconds(5)).flatMap(({ violations }) => violations).length, 0);
  t.match(
    judgeTime(seconds(15)).flatMap(({ violations }) => violations),
    [/loop delay/],
  );
  const late = (frames: number) => [READING, { ...READING, framesIn: 12_000, framesLate: 7 + frames }];
  t.same(
    judgeTime(late(100)).flatMap(({ violations }) => violations),
    [],
  );
  t.match(
    judgeTime(late(101)).flatMap(({ violations }) => violations),
    [/20 ms or more: 101 of 10000/],
  );
  t.equal(quantile([3, 1, Number.NaN, 2], 0.5), 2);
});

t.test('calls: what is lost, unexplained or left behind is named', async (t) => {
  const account: Account = {
    calls: 10,
    ends: {},
    unexplained: [],
    refused: 3,
    unanswered: 0,
    talkSeconds: 600,
    framesSent: 30_000,
    framesLost: 0,
    framesFilled: 0,
    holes: 0,
    holeMs: 0,
    longestHoleMs: 0,
    violations: [],
  };
  const broken = (more: Partial<Account>, left = { callsLive: 0, callsHeld: 0 }) =>
    judgeCalls({ ...account, ...more }, left).flatMap(({ violations }) => violations);
  t.same(broken({}), []);
  t.match(broken({ unexplained: ['x failed stream_lost'] }), [/stream_lost/]);
  t.match(broken({ framesLost: 4 }), [/4 frames/]);
  t.match(broken({ violations: ['31951'] }), [/31951/]);
  t.match(broken({}, { callsLive: 0, callsHeld: 2 }), [/2 held/]);
  t.match(broken({ calls: 0 }), [/no call/]);
});

t.test('the picture has a line for each thing that is told', async (t) => {
  const picture = drawSoak('120 minutes, 20 lines', samples(120));
  t.match(picture, /^<svg .*<\/svg>\n$/s);
  t.notMatch(picture, /NaN|Infinity/);
  t.equal(picture.match(/<polyline/g)?.length, 8);
});
