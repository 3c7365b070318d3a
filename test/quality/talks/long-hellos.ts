// PURE. People whom the agent has called and who answer with a long first sentence; the carrier tells nothing of a machine.
import { atLevel, type Clip } from '../labels.ts';
import { between, joined, type Sound, samplesOf, silent } from '../sounds.ts';
import { answersOf, atSampleMs, callOf, countRow, drawsOf, some, type Theme, timesRow } from './theme.ts';

const FROM_MS = 700;
const SENTENCE_MS = [3_200, 6_000] as const;
const BREATH_MS = 60;
const SOON_MS = 1_000;

/** One voice without its pauses, so many ms of it. */
function longSentence(clips: readonly Clip[], ms: number): Clip {
  const parts: Sound[] = [];
  let length = 0;
  for (let i = 0; length < samplesOf(ms); i++) {
    const clip = clips[i % clips.length]!;
    const level = atLevel(clip, -25);
    for (const { from, to } of clip.spans) {
      parts.push(level.slice(from, to), silent(BREATH_MS));
      length += to - from + samplesOf(BREATH_MS);
    }
  }
  const sound = joined(...parts).slice(0, samplesOf(ms));
  return { name: 'a long hello', sound, spans: [{ from: 0, to: sound.length }], activeDb: -25 };
}

export const longHellos: Theme = {
  title: 'Long first sentences',
  talks(recordings, size) {
    const voices = [...Map.groupBy(recordings.sentences, ({ voice }) => voice ?? '').values()];
    return some(
      Array.from({ length: 20 }, (_, i) => i),
      20,
      size,
    ).map((i) => {
      const name = `long hello ${i}`;
      const random = drawsOf(recordings, name);
      const clips = voices[i % voices.length]!;
      const from = Math.floor(random() * clips.length);
      const machine = i % 2 === 0 ? 'leave_message' : 'hangup';
      const clip = longSentence(
        [...clips.slice(from), ...clips.slice(0, from)],
        between(...SENTENCE_MS, random),
      );
      return callOf(recordings, random, {
        name,
        shade: machine,
        lengthMs: FROM_MS + clip.sound.length / 8 + 7_000,
        greetingMs: 0,
        said: [{ clip, levelDb: -25, atMs: atSampleMs(FROM_MS) }],
        outbound: { machine },
      });
    });
  },
  rows(held) {
    const waits = held.map((one) => {
      const { toMs } = one.talk.spoken[0]!;
      return (answersOf(one).find((atMs) => atMs >= toMs) ?? Number.POSITIVE_INFINITY) - toMs;
    });
    const found = waits.filter(Number.isFinite);
    const row = timesRow('first answer asked for after a long first sentence, p50 / p95', found);
    return [
      {
        ...row,
        target: 'under 1 s',
        met: held.length === 0 ? null : waits.every((ms) => ms < SOON_MS),
      },
      countRow('  not answered', waits.length - found.length, waits.length),
    ];
  },
};
