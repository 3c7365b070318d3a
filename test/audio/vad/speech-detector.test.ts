// From probabilities of speech to the moments it began and ended.
import t from 'tap';
import {
  QUIET,
  SPEECH_DEFAULTS,
  SpeechDetector,
  type SpeechState,
  stepSpeech,
} from '../../../audio/vad/speech-detector.ts';
import { Drawing } from '../../states/drawing.ts';

const WINDOW = 256;
const options = {
  ...SPEECH_DEFAULTS,
  startProbability: 0.7,
  stopProbability: 0.4,
  startMs: 96,
  stopMs: 64,
};
const SPEECH = 0.9;
const DOUBT = 0.5;
const NONE = 0.1;

function step(state: SpeechState, probability: number, n: number, levelDb = -20) {
  return stepSpeech(
    state,
    { probability, levelDb, leastDb: -50, startSample: n * WINDOW, endSample: (n + 1) * WINDOW },
    options,
  );
}

const starting: SpeechState = { phase: 'starting', onsetSample: 0 };
const speaking: SpeechState = { phase: 'speaking', onsetSample: 0 };
const stopping: SpeechState = { phase: 'stopping', onsetSample: 0, quietSample: 10 * WINDOW };

// Three windows of speech start, two without stop.
const table: [string, SpeechState, number, number, ReturnType<typeof step>][] = [
  ['quiet + none -> quiet', QUIET, NONE, 0, null],
  ['quiet + doubt -> quiet', QUIET, DOUBT, 0, null],
  [
    'quiet + speech -> starting',
    QUIET,
    SPEECH,
    4,
    { state: { phase: 'starting', onsetSample: 1024 }, event: null },
  ],
  ['starting + none -> quiet', starting, NONE, 1, { state: QUIET, event: null }],
  ['starting + doubt -> starting', starting, DOUBT, 5, null],
  ['starting + speech, too short -> starting', starting, SPEECH, 1, null],
  [
    'starting + speech, long enough -> speaking',
    starting,
    SPEECH,
    2,
    { state: speaking, event: { type: 'speech-started', atSample: 0, knownAtSample: 768 } },
  ],
  ['speaking + speech -> speaking', speaking, SPEECH, 10, null],
  ['speaking + doubt -> speaking', speaking, DOUBT, 10, null],
  ['speaking + none -> stopping', speaking, NONE, 10, { state: stopping, event: null }],
  ['stopping + speech -> speaking', stopping, SPEECH, 11, { state: speaking, event: null }],
  [
    'stopping + none, long enough -> quiet',
    stopping,
    NONE,
    11,
    { state: QUIET, event: { type: 'speech-ended', atSample: 2560, knownAtSample: 3072 } },
  ],
  [
    'stopping + doubt, long enough -> quiet',
    stopping,
    DOUBT,
    11,
    { state: QUIET, event: { type: 'speech-ended', atSample: 2560, knownAtSample: 3072 } },
  ],
  ['stopping + none, too short -> stopping', stopping, NONE, 10, null],
];
for (const [name, state, probability, n, wanted] of table) {
  t.test(name, async (t) => t.same(step(state, probability, n), wanted));
}

t.test('a window fainter than the least level is no speech, but breaks off no beginning', async (t) => {
  t.equal(step(QUIET, SPEECH, 0, -51), null);
  t.same(step(speaking, SPEECH, 10, -51), { state: stopping, event: null });
  // The closed consonant in "fourteen": faint, and the model is as sure as before.
  t.equal(step(starting, SPEECH, 2, -51), null);
  t.same(step(starting, NONE, 2, -51), { state: QUIET, event: null });
});

/** What a detector tells of windows of [probability, level], as [event, onset or end, known], in windows. */
function told(windows: readonly (readonly [number, number])[]) {
  const detector = new SpeechDetector(options);
  return windows.flatMap(([probability, levelDb], n) => {
    const event = detector.push(probability, (n + 1) * WINDOW, levelDb);
    return event === null ? [] : [[event.type, event.atSample / WINDOW, event.knownAtSample / WINDOW]];
  });
}
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

t.test('a voice hardly above the noise of the line does not begin; louder, it does', async (t) => {
  // Two seconds of a room at -45 dB are enough to know it.
  const room = times(64, [NONE, -45] as const);
  t.same(told([...room, ...times(20, [SPEECH, -41] as const)]), []);
  t.same(told([...room, ...times(20, [SPEECH, -35] as const)]), [['speech-started', 64, 67]]);
  // However loud the line is.
  t.same(told([...times(64, [NONE, -32] as const), ...times(20, [SPEECH, -29] as const)]), [
    ['speech-started', 64, 67],
  ]);
});

t.test('where the noise of the line is steady, a voice that is hardly louder begins too', async (t) => {
  const steady = { ...SPEECH_DEFAULTS };
  const begins = (room: readonly number[], voiceDb: number) => {
    const detector = new SpeechDetector(steady);
    let n = 0;
    const hear = (probability: number, levelDb: number) =>
      detector.push(probability, ++n * WINDOW, levelDb)?.type;
    for (let i = 0; i < 320; i++) hear(NONE, room[i % room.length]!);
    return times(6, 0).some(() => hear(SPEECH, voiceDb) === 'speech-started');
  };
  const fan = [-45, -44.5, -44, -44.5];
  t.ok(begins(fan, -37));
  t.notOk(begins(fan, -40));
  // People in the room: louder, and pauses between their words.
  const people = [...times(6, -45), ...times(12, -38)];
  t.notOk(begins(people, -37));
  t.ok(begins(people, -34));
});

t.test('the caller has ended where only voices behind him go on; his own faint words are his', async (t) => {
  const room = times(64, [NONE, -45] as const);
  const caller = times(10, [SPEECH, -25] as const);
  t.same(told([...room, ...caller, ...times(20, [SPEECH, -42] as const)]), [
    ['speech-started', 64, 67],
    ['speech-ended', 74, 76],
  ]);
  t.same(told([...room, ...caller, ...times(20, [SPEECH, -38] as const)]), [['speech-started', 64, 67]]);
  // Where noise and voice are equally loud, the model alone decides.
  const loud = times(64, [NONE, -30] as const);
  t.same(told([...loud, ...caller, ...times(20, [SPEECH, -29] as const)]), [['speech-started', 64, 67]]);
});

t.test('one window long enough starts and stops at once', async (t) => {
  const quick = { ...options, startMs: 32, stopMs: 32 };
  const at = (n: number, probability: number) =>
    ({
      probability,
      levelDb: -20,
      leastDb: -50,
      startSample: n * WINDOW,
      endSample: (n + 1) * WINDOW,
    }) as const;
  t.equal(stepSpeech(QUIET, at(0, SPEECH), quick)?.event?.type, 'speech-started');
  t.equal(stepSpeech(speaking, at(1, NONE), quick)?.event?.type, 'speech-ended');
});

t.test('a detector tells onset and end of a stream, backdated', async (t) => {
  const detector = new SpeechDetector(options);
  //            0 1 2 3 4 5 6 7 8 9 ...
  const heard = '_s_ss?s__s_s?_s___s_';
  const events = [...heard].flatMap((sign, n) => {
    const event = detector.push(sign === 's' ? SPEECH : sign === '?' ? DOUBT : NONE, (n + 1) * WINDOW);
    return event === null ? [] : [[event.type, event.atSample / WINDOW, event.knownAtSample / WINDOW]];
  });
  t.same(events, [
    ['speech-started', 3, 7],
    ['speech-ended', 7, 9],
  ]);
});

t.test('a detector shows its state and takes new thresholds', async (t) => {
  const detector = new SpeechDetector(options);
  t.same(detector.state, QUIET);
  detector.push(SPEECH, 1 * WINDOW);
  t.same(detector.state, { phase: 'starting', onsetSample: 0 });
  t.equal(detector.speaking, false);
  detector.push(SPEECH, 2 * WINDOW);
  detector.push(SPEECH, 3 * WINDOW);
  t.equal(detector.state.phase, 'speaking');
  detector.push(NONE, 4 * WINDOW);
  t.same(detector.state, { phase: 'stopping', onsetSample: 0, quietSample: 3 * WINDOW });
  t.equal(detector.speaking, true);
  const stricter = new SpeechDetector(options);
  stricter.configure({ startMs: 300 });
  for (let n = 5; n < 14; n++) t.equal(stricter.push(SPEECH, n * WINDOW), null);
  t.equal(stricter.push(SPEECH, 14 * WINDOW)?.atSample, 4 * WINDOW);
});

t.test('every short order of windows is drawn', async (t) => {
  const drawing = new Drawing('voice', QUIET.phase);
  const windows = [
    ['speech', SPEECH],
    ['doubt', DOUBT],
    ['none', NONE],
  ] as const;
  const go = (state: SpeechState, n: number) => {
    if (n === 9) return;
    for (const [heard, probability] of windows) {
      const next = step(state, probability, n);
      const told = next?.event ? `${heard} (${next.event.type})` : heard;
      drawing.arrow(state.phase, told, (next?.state ?? state).phase);
      go(next?.state ?? state, n + 1);
    }
  };
  go(QUIET, 0);
  drawing.hold(t);
});
