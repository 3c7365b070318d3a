// What holds the agent's voice back, and what the hold comes to.
import t from 'tap';
import {
  beginHold,
  burstOf,
  changeHold,
  confirms,
  firstOnset,
  judgeHold,
  learnAssent,
  pausedHold,
  HOLD_RULES as R,
} from '../../../bridge/turns/hold.ts';
import { QUIET_VOICE, type Voice } from '../../../bridge/turns/voice.ts';

const burst = { onsetMs: 1_000, endMs: 1_300, spokenMs: 300 };

t.test('what confirms a hold', async (t) => {
  const table: [string, Parameters<typeof confirms>, boolean][] = [
    ['speech that has lasted', [{ onsetMs: 5_000, stoppedMs: 0 }, null, R, 5_000 + R.confirmMs], true],
    ['not a moment less', [{ onsetMs: 5_000, stoppedMs: 0 }, null, R, 5_000 + R.confirmMs - 1], false],
    [
      'bursts with nothing between them do not',
      [{ onsetMs: 5_000, stoppedMs: R.confirmMs - R.soundingMs + 1 }, null, R, 5_000 + R.confirmMs],
      false,
    ],
    [
      'until enough of them is heard',
      [{ onsetMs: 5_000, stoppedMs: 200 }, null, R, 5_000 + R.soundingMs + 200],
      true,
    ],
    [
      'several pieces together',
      [{ onsetMs: 1_800, stoppedMs: 0 }, burst, R, 1_800 + R.confirmTogetherMs - 300],
      true,
    ],
    [
      'not pieces far apart',
      [{ onsetMs: 2_400, stoppedMs: 0 }, burst, R, 2_400 + R.confirmTogetherMs - 300],
      false,
    ],
  ];
  for (const [name, given, expected] of table) t.equal(confirms(...given), expected, name);
});

t.test('where the words begin', async (t) => {
  t.equal(firstOnset({ onsetMs: 1_800 }, burst, R), 1_000, 'with the piece just before');
  t.equal(firstOnset({ onsetMs: 2_400 }, burst, R), 2_400);
  t.equal(firstOnset({ onsetMs: 2_400 }, null, R), 2_400);
  const long = { onsetMs: 1_000, endMs: 4_000, spokenMs: 600 };
  t.equal(firstOnset({ onsetMs: 4_500 }, long, R), 4_500, 'words too old are left');
});

t.test('pieces that belong together are one burst', async (t) => {
  t.same(burstOf({ onsetMs: 1_800 }, 2_000, burst, R), {
    onsetMs: 1_000,
    endMs: 2_000,
    spokenMs: 500,
  });
  t.same(burstOf({ onsetMs: 4_000 }, 4_200, burst, R), {
    onsetMs: 4_000,
    endMs: 4_200,
    spokenMs: 200,
  });
});

const speaking = (onsetMs: number, stoppedMs = 0): Voice => ({ is: 'speaking', onsetMs, stoppedMs });
const heldAt = (onsetMs: number) => beginHold({ is: 'starting', onsetMs }, null, R, onsetMs + 60)!;

t.test('what a hold comes to as time passes', async (t) => {
  const ducked = heldAt(5_000);
  const paused = pausedHold(ducked, 5_400);
  const ended = { ...ducked, endMs: 5_300 };
  const endedPaused = { ...paused, endMs: 5_300 };
  const asked = { onsetMs: 5_000, is: 'given', untilMs: 6_100 } as const;
  const knownWord = { onsetMs: 5_000, is: 'known' } as const;
  const stopping: Voice = { is: 'stopping', onsetMs: 5_000, quietMs: 5_200 };
  type Given = { hold: typeof ducked; voice: Voice; at: number; assentMs?: number };
  const table: [string, Given, ReturnType<typeof judgeHold>][] = [
    ['ducked at once', { hold: ducked, voice: speaking(5_000), at: 5_000 + R.pauseMs - 1 }, 'waits'],
    ['paused when it has lasted', { hold: ducked, voice: speaking(5_000), at: 5_000 + R.pauseMs }, 'lasts'],
    [
      'the stops in it do not count',
      { hold: ducked, voice: speaking(5_000, 30), at: 5_000 + R.pauseMs + 29 },
      'waits',
    ],
    [
      'with a stop in it: how long it goes on',
      { hold: ducked, voice: speaking(5_000, 150), at: 5_000 + R.pauseTogetherMs },
      'lasts',
    ],
    [
      'of a caller whose words of assent are long: later',
      { hold: ducked, voice: speaking(5_000), at: 5_000 + 400 + R.pauseOverAssentMs - 1, assentMs: 400 },
      'waits',
    ],
    [
      'but paused',
      { hold: ducked, voice: speaking(5_000), at: 5_000 + 400 + R.pauseOverAssentMs, assentMs: 400 },
      'lasts',
    ],
    [
      'short ones make no difference',
      { hold: ducked, voice: speaking(5_000), at: 5_000 + R.pauseMs, assentMs: 250 },
      'lasts',
    ],
    ['it is paused once', { hold: paused, voice: speaking(5_000), at: 5_000 + R.pauseMs }, 'waits'],
    [
      'in pieces: not yet',
      { hold: ducked, voice: speaking(5_400), at: 5_000 + R.pauseTogetherMs - 1 },
      'waits',
    ],
    ['in pieces', { hold: ducked, voice: speaking(5_400), at: 5_000 + R.pauseTogetherMs }, 'lasts'],
    [
      'a voice that stops just now is waited for',
      {
        hold: ducked,
        voice: { is: 'stopping', onsetMs: 5_000, quietMs: 5_400 },
        at: 5_000 + R.pauseMs,
      },
      'waits',
    ],
    ['and stopped', { hold: paused, voice: speaking(5_000), at: 5_000 + R.confirmMs }, 'confirmed'],
    [
      'not while it is unsure whose voice it is',
      {
        hold: paused,
        voice: { is: 'speaking', onsetMs: 5_000, stoppedMs: 0, unsure: true },
        at: 5_000 + 2 * R.confirmMs,
      },
      'waits',
    ],
    ['short: more words may follow', { hold: ended, voice: QUIET_VOICE, at: 5_300 + R.quietMs - 1 }, 'waits'],
    ['short: as loud as before', { hold: ended, voice: QUIET_VOICE, at: 5_300 + R.quietMs }, 'nothing'],
    [
      'short, and paused: the same',
      { hold: endedPaused, voice: QUIET_VOICE, at: 5_300 + R.quietMs - 1 },
      'waits',
    ],
    [
      'paused by a word that is asked for: it is waited for',
      { hold: { ...endedPaused, word: asked }, voice: QUIET_VOICE, at: 6_099 },
      'waits',
    ],
    [
      'as long as that usually takes',
      { hold: { ...endedPaused, word: asked }, voice: QUIET_VOICE, at: 6_100 },
      'nothing',
    ],
    [
      'nor is the silence shorter for words that come soon',
      {
        hold: { ...endedPaused, word: { ...asked, untilMs: 5_400 } },
        voice: QUIET_VOICE,
        at: 5_300 + R.quietMs - 1,
      },
      'waits',
    ],
    [
      'a ducked voice does not wait',
      { hold: { ...ended, word: asked }, voice: QUIET_VOICE, at: 5_300 + R.quietMs },
      'nothing',
    ],
    [
      'nor for what is known',
      { hold: { ...endedPaused, word: knownWord }, voice: QUIET_VOICE, at: 5_300 + R.quietMs },
      'nothing',
    ],
    ['a stop in a word', { hold: ducked, voice: stopping, at: 5_200 + R.wordEndMs - 1 }, 'waits'],
    ['the end of a word', { hold: ducked, voice: stopping, at: 5_200 + R.wordEndMs }, 'word'],
    ['is told once', { hold: { ...ducked, word: asked }, voice: stopping, at: 5_200 + R.wordEndMs }, 'waits'],
    ['until none do', { hold: endedPaused, voice: QUIET_VOICE, at: 5_300 + R.quietMs }, 'nothing'],
    [
      'no hold is for ever, however deep',
      { hold: { ...paused, stoppedMs: 5_800 }, voice: speaking(5_000, 5_800), at: 5_060 + R.holdLimitMs },
      'stuck',
    ],
  ];
  for (const [name, { hold, voice, at, assentMs = 0 }, expected] of table)
    t.equal(judgeHold(hold, { voice, burst: null, assentMs, listenedMs: at, now: at }, R), expected, name);
});

t.test('how long this caller’s words of assent are: rises at once, falls slowly', async (t) => {
  const said = (onsetMs: number, endMs: number | null, stoppedMs = 0) => ({
    ...heldAt(onsetMs),
    endMs,
    stoppedMs,
  });
  t.equal(learnAssent(0, said(5_000, 5_400)), 400);
  t.equal(learnAssent(400, said(5_000, 5_300)), 380);
  t.equal(learnAssent(0, said(5_000, 5_400, 100)), 300, 'stops are none of it');
  t.equal(learnAssent(400, said(5_000, 5_090)), 400, 'a click is no word');
  t.equal(learnAssent(400, said(5_000, null)), 400);
});

t.test('sound that was no speech lets go at once, or after a moment, by how deep the hold is', async (t) => {
  const starting: Voice = { is: 'starting', onsetMs: 5_000 };
  const ducked = heldAt(5_000);
  t.equal(changeHold(ducked, starting, QUIET_VOICE, R, 5_000 + R.fadeMs - 1), null);
  for (const hold of [ducked, pausedHold(ducked, 5_080)]) {
    const fading = changeHold(hold, starting, QUIET_VOICE, R, 5_000 + R.fadeMs)!;
    const judged = (now: number) =>
      judgeHold(fading, { voice: QUIET_VOICE, burst: null, assentMs: 0, listenedMs: now, now }, R);
    t.equal(judged(5_000 + 2 * R.fadeMs - 1), 'waits');
    t.equal(judged(5_000 + 2 * R.fadeMs), 'nothing');
    t.equal(pausedHold(fading, 9_000).pausedSince, hold.pausedSince ?? 9_000, 'it is paused once');
  }
});
