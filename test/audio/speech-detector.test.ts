import t from 'tap';
import {
  QUIET,
  SPEECH_DEFAULTS,
  SpeechDetector,
  type SpeechState,
  stepSpeech,
} from '../../audio/speech-detector.ts';

const WINDOW = 256;
const options = {
  ...SPEECH_DEFAULTS,
  startProbability: 0.7,
  stopProbability: 0.4,
  startMs: 96,
  stopMs: 64,
  leastLevelDb: -50,
};
const SPEECH = 0.9;
const DOUBT = 0.5;
const NONE = 0.1;

function step(state: SpeechState, probability: number, n: number, levelDb = -20) {
  return stepSpeech(
    state,
    { probability, levelDb, startSample: n * WINDOW, endSample: (n + 1) * WINDOW },
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

t.test('a window fainter than the least level is no speech', async (t) => {
  t.equal(step(QUIET, SPEECH, 0, -51), null);
  t.same(step(speaking, SPEECH, 10, -51), { state: stopping, event: null });
});

t.test('one window long enough starts and stops at once', async (t) => {
  const quick = { ...options, startMs: 32, stopMs: 32 };
  const at = (n: number, probability: number) =>
    ({ probability, levelDb: -20, startSample: n * WINDOW, endSample: (n + 1) * WINDOW }) as const;
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

t.test('a detector shows its phase, takes new thresholds, and forgets', async (t) => {
  const detector = new SpeechDetector(options);
  t.equal(detector.phase, 'quiet');
  t.equal(detector.onsetSample, null);
  detector.push(SPEECH, 1 * WINDOW);
  t.equal(detector.phase, 'starting');
  t.equal(detector.speaking, false);
  t.equal(detector.onsetSample, 0);
  detector.push(SPEECH, 2 * WINDOW);
  detector.push(SPEECH, 3 * WINDOW);
  t.equal(detector.phase, 'speaking');
  detector.push(NONE, 4 * WINDOW);
  t.equal(detector.phase, 'stopping');
  t.equal(detector.speaking, true);
  detector.reset();
  t.equal(detector.phase, 'quiet');
  detector.configure({ startMs: 300 });
  for (let n = 5; n < 14; n++) t.equal(detector.push(SPEECH, n * WINDOW), null);
  t.equal(detector.push(SPEECH, 14 * WINDOW)?.atSample, 4 * WINDOW);
});
