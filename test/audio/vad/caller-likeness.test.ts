// Whose voice it is over the agent's: this caller's, once he is known; another's, when it has spoken on.
import t from 'tap';
import { CallerLikeness, type Whose } from '../../../audio/vad/caller-likeness.ts';
import { VoiceSound } from '../../../audio/vad/voice-print.ts';
import { type VoiceWindow, voiceWindows } from './voices.ts';

const CALLER = voiceWindows('jfk-8k');
const OTHER = voiceWindows('caller-more-info');
/** About as loud as both are. */
const CALLER_DB = -18;
const windows = (seconds: number) => Math.round(seconds / 0.032);

function open() {
  const likeness = new CallerLikeness();
  const sound = new VoiceSound();
  let end = 0;
  const hear = (window: VoiceWindow | null, over: boolean, goesOn: boolean): Whose => {
    end += 256;
    if (window !== null) sound.take(window.samples, end);
    const levelDb = window?.levelDb ?? -68;
    return likeness.hear({ sound: window && sound, levelDb, callerDb: CALLER_DB, over, goesOn });
  };
  const quiet = (seconds: number, over: boolean) => {
    let whose: Whose = 'caller';
    for (let i = 0; i < windows(seconds); i++) whose = hear(null, over, false);
    return whose;
  };
  /** Answers whose it was, window by window. */
  const speaks = (voice: readonly VoiceWindow[], over: boolean) => voice.map((one) => hear(one, over, true));
  /** He is known. */
  const turn = (voice = CALLER.slice(0, 100)) => {
    quiet(1, false);
    speaks(voice, false);
    quiet(1, false);
  };
  return { likeness, sound, quiet, speaks, turn };
}

t.test('of whom nothing is known, everybody is he', async (t) => {
  const { speaks, quiet } = open();
  quiet(1, true);
  t.ok(speaks(OTHER, true).every((whose) => whose === 'caller'));
});

t.test('the caller is known for himself over the agent, before 3 s of speech', async (t) => {
  const { speaks, quiet, turn } = open();
  turn();
  quiet(1, true);
  const whose = speaks(CALLER.slice(100, 194), true);
  t.equal(whose[0], 'unsure', 'not by his first sound');
  t.equal(whose.at(-1), 'caller');
  t.notOk(whose.includes('other'));
});

t.test('another voice is another, and stays so', async (t) => {
  const { speaks, quiet, turn } = open();
  turn();
  quiet(1, true);
  const whose = speaks(OTHER.slice(0, 160), true);
  const at = whose.indexOf('other');
  t.ok(at >= windows(0.9) && at <= windows(3.2), `after ${at} windows`);
  t.ok(whose.slice(at).every((one) => one === 'other'));
  t.notOk(whose.includes('caller'));
  const again = open();
  again.turn();
  again.quiet(1, true);
  again.speaks(OTHER.slice(0, 160), true);
  again.quiet(1.2, true);
  const second = again.speaks(OTHER.slice(160, 220), true);
  t.ok(second.indexOf('other') > 0 && second.indexOf('other') < at, 'it is known when it comes again');
});

t.test('over it, who is louder and as loud as the caller is he', async (t) => {
  const { speaks, quiet, turn } = open();
  turn();
  quiet(1, true);
  const bed = OTHER.slice(0, 160).map((one) => ({ ...one, levelDb: CALLER_DB - 9 }));
  t.equal(speaks(bed, true).at(-1), 'other');
  const loud = CALLER.slice(100, 160).map((one) => ({ ...one, levelDb: CALLER_DB + 1 }));
  t.equal(speaks(loud, true).at(-1), 'caller');
});

t.test('who is louder than the caller is at the telephone, whoever it is', async (t) => {
  const { speaks, quiet, turn } = open();
  turn();
  quiet(1, true);
  const beside = OTHER.slice(0, 160).map((one) => ({ ...one, levelDb: CALLER_DB + 1 }));
  t.equal(speaks(beside, true).at(-1), 'other', '1 dB louder shows nothing');
  quiet(1.2, true);
  const whose = speaks(
    OTHER.slice(160, 260).map((one) => ({ ...one, levelDb: CALLER_DB + 3 })),
    true,
  );
  t.equal(whose.at(-1), 'caller');
  t.equal(whose.indexOf('caller'), 13, 'after half a second of speech');
});

t.test('who makes a pause is believed, unless nothing is alike', async (t) => {
  const { likeness, speaks, quiet, turn } = open();
  turn();
  quiet(1, true);
  speaks(CALLER.slice(100, 130), true);
  t.ok(likeness.mayHavePaused());
  quiet(1.2, true);
  speaks(OTHER.slice(0, 90), true);
  t.notOk(likeness.mayHavePaused());
});

t.test('a voice of the room is not learned in the silence, another caller is', async (t) => {
  const bed = open();
  bed.turn();
  bed.quiet(1, true);
  bed.speaks(OTHER.slice(0, 160), true);
  bed.turn(OTHER.slice(160, 300));
  bed.quiet(1, true);
  t.ok(bed.speaks(OTHER.slice(0, 100), true).includes('other'));
  const handed = open();
  handed.turn();
  handed.turn(OTHER.slice(0, 250));
  handed.quiet(1, true);
  t.equal(handed.speaks(OTHER.slice(250, 350), true).at(-1), 'caller');
  const noise = open();
  noise.quiet(1, false);
  noise.speaks(OTHER.slice(0, 100), false);
  noise.likeness.takeBack();
  noise.quiet(1, true);
  t.ok(
    noise.speaks(CALLER.slice(0, 100), true).every((whose) => whose === 'caller'),
    'what was no speech shows nothing',
  );
});

t.test('of whom the noise leaves nothing to judge by is believed in the end', async (t) => {
  const { speaks, quiet, turn, sound } = open();
  turn();
  quiet(1, true);
  for (let i = 0; i < 16; i++) sound.takeNoise(OTHER[0]!.samples);
  const whose = speaks(
    Array.from({ length: 100 }, () => OTHER[0]!),
    true,
  );
  t.equal(whose[90], 'unsure');
  t.equal(whose.at(-1), 'caller');
});
