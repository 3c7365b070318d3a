// The themes held against what is known: a room, what is told of a voice that was ducked and paused; and a few of their calls
// in short, on the project's own recordings.
import t from 'tap';
import { SILENT_DB } from '../../audio/levels.ts';
import { seeded } from '../random.ts';
import { holdTalks } from './conversations.ts';
import { lostAndRepeated, NOTHING, UNKNOWN } from './followed-voice.ts';
import type { Recordings } from './recorded.ts';
import { readRecordings } from './recordings.ts';
import { backchannels } from './talks/backchannels.ts';
import { interruptions } from './talks/interruptions.ts';
import { roomOf, rooms } from './talks/rooms.ts';
import { slowSpeech } from './talks/slow-speech.ts';
import { callOf, heardForMs, silentFrames, type ThemeTalk } from './talks/theme.ts';
import { THEMES } from './themes.ts';

t.test('how long the agent was heard, and was silent, is told by its own words', async (t) => {
  // Full voice, ducked, nothing, full voice, nothing, the answer.
  const runs = [
    [20, 0, 0],
    [10, 0, -14],
    [5, NOTHING, SILENT_DB],
    [5, 0, 0],
    [5, NOTHING, SILENT_DB],
    [10, 2 ** 20, 0],
  ] as const;
  const each = (at: 1 | 2) => runs.flatMap((run) => Array.from({ length: run[0] }, () => run[at]));
  const played = {
    places: Int32Array.from(each(1)),
    gainsDb: Float32Array.from(each(2)),
    levelsDb: Float32Array.from(each(2), (gainDb) => Math.max(SILENT_DB, gainDb - 20)),
  };
  const outcome = {
    audible: [],
    asked: [],
    turns: [],
    bargeIns: [],
    takenBack: [],
    early: { begun: 0, thrownAway: 0 },
    tokens: { all: 0, thrownAway: 0 },
    pausedForNothing: [],
    played,
  };
  t.equal(heardForMs(outcome, 300, 0, 11.5), 500, 'to the last frame at full voice');
  t.equal(heardForMs(outcome, 700, 0, 60), 100);
  t.equal(silentFrames(outcome, 0, 1_100), 10);
});

t.test(
  'a room returns what it is given: its ways are of power 1, the first of them the straight one',
  async (t) => {
    for (const set of ['first', 'second'] as const) {
      for (let n = 0; n < 4; n++) {
        const taps = roomOf(set, n);
        const power = taps.reduce((sum, { gain }) => sum + gain * gain, 0);
        t.ok(Math.abs(power - 1) < 1e-9, `${set} ${n}: ${power}`);
        t.equal(taps[0]!.samples, 0);
        t.ok(taps.length > 50);
      }
    }
  },
);

t.test('themes make the same calls each time, whatever a set lacks', async (t) => {
  const own = readRecordings('own');
  for (const theme of THEMES) {
    const made = () =>
      theme
        .talks(own, 0.1)
        .map(({ name, caller }) => [
          name,
          caller.reduce((sum, sample, i) => (sum + sample * (i % 97)) | 0, 0),
        ]);
    t.same(made(), made(), theme.title);
    t.ok(theme.rows([], { ...own, sentences: own.sentences.slice(0, 1), words: [] }).length > 0);
  }
});

t.test('calls of the themes in short: each frame the agent was heard in is known', async (t) => {
  const own = readRecordings('own');
  for (const theme of [interruptions, backchannels, rooms]) {
    const talks = theme.talks(own, 0.1);
    t.ok(talks.length > 0, theme.title);
    const held = (await holdTalks(talks)).map((outcome, i) => ({ talk: talks[i]!, outcome }));
    for (const { talk, outcome } of held) {
      const { places } = outcome.played;
      t.ok(places.length >= talk.lengthMs / 20 - 1);
      t.ok(places.filter((place) => place >= 0).length > 50, `${talk.name}: the agent was heard`);
      t.equal(places.filter((place) => place === UNKNOWN).length, 0, talk.name);
    }
    if (theme === backchannels)
      for (const { outcome } of held)
        t.same(lostAndRepeated(outcome.played, 0), { lostMs: 0, repeatedMs: 0 });
    for (const { measure, values } of theme.rows(held, own))
      t.ok(values.length === 1 && !/NaN|undefined/.test(values[0]!), measure);
  }
});

t.test('a hesitation is waited out, and so is what was asked for and comes in pieces', async (t) => {
  const own = readRecordings('own');
  const hesitant = slowSpeech.talks(own, 0.25);
  const texts = ['Could you give me your customer number, please?', 'How can I help you?'];
  const told = texts.map((greeting) => inPieces(own, greeting));
  const outcomes = await holdTalks([...hesitant, ...told]);
  const cut = hesitant.filter((_, i) => outcomes[i]!.turns.length > 1).length;
  t.ok(hesitant.length > 4 && cut <= hesitant.length / 3, `${cut} of ${hesitant.length}`);
  const [asked, plain] = outcomes.slice(-2);
  t.equal(asked!.turns.length, 1, texts[0]!);
  t.ok(plain!.turns.length > 1, 'nobody has asked for that');
});

/** A call in which one answers by two words with a second between them. */
function inPieces(own: Recordings, greeting: string): ThemeTalk {
  const clip = own.words[0]!;
  const gapMs = 1_000 + clip.sound.length / 8;
  return callOf(own, seeded(1), {
    name: greeting,
    shade: '',
    lengthMs: 7_000,
    greetingMs: 600,
    said: [0, 1].map((i) => ({ clip, levelDb: -25, atMs: 2_500 + i * gapMs })),
    texts: { greeting },
  });
}
