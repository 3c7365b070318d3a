// From the detector's windows to what the turn rules are told of the caller's voice.
import t from 'tap';
import { EchoGuard } from '../../../audio/echo-guard.ts';
import { CallerClock } from '../../../bridge/media/caller-clock.ts';
import { CallerVoice } from '../../../bridge/media/caller-voice.ts';
import { type VoiceWindow, voiceWindows } from '../../audio/vad/voices.ts';

const WINDOW = 256;

function open(guard: EchoGuard | null = null, offsetMs = 0) {
  const told: unknown[] = [];
  const clock = new CallerClock(offsetMs);
  const voice = new CallerVoice({
    listener: {
      voice: (it) => told.push(it.is === 'quiet' ? 'quiet' : [it.is, it.onsetMs]),
      speechStarted: (ms) => told.push(['started', ms]),
      speechEnded: (ms) => told.push(['ended', ms]),
      speechTakenBack: (ms) => told.push(['taken back', ms]),
    },
    clock,
    guard,
  });
  let end = 0;
  const hear = (windows: number, probability: number, levelDb = -30) => {
    for (let i = 0; i < windows; i++) {
      end += WINDOW;
      voice.window(probability, end, levelDb);
    }
  };
  return { told, voice, hear };
}

t.test('each change is told once, on the clock of the call', async (t) => {
  const { told, voice, hear } = open(null, 500);
  hear(40, 0);
  hear(8, 0.9);
  t.ok(voice.speaking());
  t.equal(voice.heardMs(), 500 + 48 * 32);
  hear(8, 0);
  const onset = 500 + 40 * 32;
  t.same(told, [
    ['starting', onset],
    ['speaking', onset],
    ['started', onset],
    ['stopping', onset],
    'quiet',
    ['ended', onset + 8 * 32],
  ]);
});

t.test('in the first second of a line, speech must last longer', async (t) => {
  const { told, voice, hear } = open();
  hear(4, 0);
  hear(8, 0.9);
  t.notOk(voice.speaking(), '256 ms of it are not enough');
  hear(3, 0.9);
  t.ok(voice.speaking());
  t.same(told.at(-1), ['started', 128]);
});

t.test('speech before the line is known, no louder than the line: taken back after a second', async (t) => {
  const { told, hear } = open();
  hear(31, 0.9, -44);
  t.same(told.at(-1), ['started', 0]);
  hear(1, 0.9, -44);
  t.same(told.slice(-2), ['quiet', ['taken back', 0]]);
  hear(60, 0.9, -44);
  t.same(told.at(-1), ['taken back', 0], 'nor is it speech later');
  const other = open();
  for (let word = 0; word < 8; word++) {
    other.hear(1, 0.2, -56);
    other.hear(3, 0.2, -60);
    other.hear(8, 0.9, -44);
  }
  t.notOk(
    other.told.some((one) => Array.isArray(one) && one[0] === 'taken back'),
    'words are louder',
  );
});

t.test('what the guard explains is no speech', async (t) => {
  const guard = new EchoGuard();
  guard.explains = () => true;
  const { told, hear } = open(guard);
  hear(60, 0.9);
  t.same(told, []);
});

t.test('the stops inside what is said are counted, anew for each time', async (t) => {
  const paused: number[] = [];
  const voice = new CallerVoice({
    listener: {
      voice: (it) => it.is === 'speaking' && paused.push(it.stoppedMs),
      speechStarted() {},
      speechEnded() {},
      speechTakenBack() {},
    },
    clock: new CallerClock(0),
  });
  let end = 0;
  for (const [windows, probability] of [
    [40, 0],
    [6, 0.9],
    [3, 0],
    [4, 0.9],
    [2, 0],
    [4, 0.9],
    [12, 0],
    [6, 0.9],
  ] as const)
    for (let i = 0; i < windows; i++) {
      end += WINDOW;
      voice.window(probability, end, -30);
    }
  t.same(paused, [0, 96, 160, 0]);
});

t.test(
  'over the agent’s voice the caller is heard, and no voice that is far fainter than he was',
  async (t) => {
    const guard = new EchoGuard();
    let over = false;
    guard.near = () => over;
    guard.explains = () => false;
    const { told, hear } = open(guard);
    const agentSpeaks = () => {
      over = true;
      hear(20, 0, -60);
      told.length = 0;
    };
    hear(40, 0, -60);
    hear(60, 0.9, -25);
    hear(20, 0, -60);
    agentSpeaks();
    hear(60, 0.9, -42);
    t.same(told, [], 'a television');
    hear(20, 0, -60);
    hear(10, 0.9, -25);
    t.same(
      told.map((one) => Array.isArray(one) && one[0]),
      ['starting', 'speaking', 'started'],
      'the caller',
    );
  },
);

t.test('another voice over the agent is unsure at first, and taken back; the caller is known', async (t) => {
  const told: unknown[] = [];
  const guard = new EchoGuard();
  let over = false;
  guard.near = () => over;
  const voice = new CallerVoice({
    listener: {
      voice: (it) => it.is === 'speaking' && told.push(it.unsure === true ? 'unsure' : 'speaking'),
      speechStarted: () => told.push('started'),
      speechEnded: () => told.push('ended'),
      speechTakenBack: () => told.push('taken back'),
    },
    clock: new CallerClock(0),
    guard,
  });
  let end = 0;
  const hear = (windows: readonly (VoiceWindow | null)[]) => {
    told.length = 0;
    for (const window of windows) {
      end += WINDOW;
      voice.window(window === null ? 0 : 0.9, end, window?.levelDb ?? -68, window?.samples);
    }
    return told.filter((one, i) => one !== told[i - 1]);
  };
  const silence = (windows: number) => Array.from({ length: windows }, () => null);
  const caller = voiceWindows('jfk-8k').map((one) => ({ ...one, levelDb: -25 }));
  const other = voiceWindows('caller-more-info').map((one) => ({ ...one, levelDb: -28 }));
  hear(silence(60));
  t.same(hear([...caller.slice(0, 100), ...silence(20)]), ['speaking', 'started', 'ended']);
  over = true;
  hear(silence(40));
  t.same(hear(other.slice(0, 150)), ['unsure', 'started', 'taken back']);
  hear(silence(40));
  t.same(hear([...caller.slice(100, 200), ...silence(20)]), ['unsure', 'started', 'speaking', 'ended']);
  hear(silence(40));
  t.same(
    hear([...caller.slice(10, 22), ...silence(8)]),
    ['unsure', 'started', 'ended'],
    'a short word ends as ever',
  );
});
