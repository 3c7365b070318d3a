// Which sounds at the end of words are drawn out: made ones here; how often it is right about voices, docs/quality.md says.
import t from 'tap';
import { DRAWN_OUT_MS, isDrawnOut } from '../../audio/drawn-out.ts';
import { clipOf } from '../quality/labels.ts';
import {
  addTo,
  atRms,
  cough,
  fromPcm,
  joined,
  mhm,
  type Sound,
  samplesOf,
  silent,
  slam,
  throughMulaw,
  toPcm,
  uhm,
  white,
} from '../quality/sounds.ts';
import { seeded } from '../random.ts';
import { readFixture } from './fixtures.ts';

/** The end of a sound as it is looked at, over the noise of a line. */
function heard(sound: Sound, db = -25): boolean {
  const line = atRms(white(sound.length / 8 + 900, seeded(7)), -66);
  addTo(line, atRms(sound, db), samplesOf(880));
  return isDrawnOut(throughMulaw(toPcm(line)).subarray(-samplesOf(DRAWN_OUT_MS)));
}

t.test('“uhm” of many voices, loud and faint', async (t) => {
  const random = seeded(3);
  const count = 60;
  for (const db of [-20, -30, -38]) {
    let found = 0;
    for (let i = 0; i < count; i++)
      if (heard(clipOf('uhm', uhm(500 + (i % 5) * 60, random))!.sound, db)) found++;
    t.ok(found >= count * 0.6, `${found} of ${count} at ${db} dB`);
  }
});

t.test('“uhm” that fades out, with all its fading', async (t) => {
  const random = seeded(3);
  const count = 60;
  for (const fadesMs of [0, 100, 250]) {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const sound = uhm(500 + (i % 5) * 60, random);
      const faded = sound.map(
        (sample, n) => sample * Math.min(1, (sound.length - n) / samplesOf(fadesMs + 1)),
      );
      if (heard(faded)) found++;
    }
    t.ok(found >= count / 2, `${found} of ${count}, faded over ${fadesMs} ms`);
  }
});

t.test('what is no voice, or none that is drawn out', async (t) => {
  const random = seeded(5);
  for (let i = 0; i < 20; i++) {
    t.notOk(heard(cough(random)), 'a cough');
    t.notOk(heard(slam(random)), 'a door');
    t.notOk(heard(mhm(random)), 'mhm');
    t.notOk(heard(white(500, random)), 'noise');
  }
  t.notOk(isDrawnOut(new Int16Array(0)), 'nothing');
  t.notOk(isDrawnOut(new Int16Array(100)), 'next to nothing');
  t.notOk(isDrawnOut(new Int16Array(DRAWN_OUT_MS * 8)), 'silence');
  t.notOk(isDrawnOut(new Int16Array(DRAWN_OUT_MS * 8).fill(-32_124)), 'an offset');
  t.notOk(heard(joined(uhm(600, random), silent(300))), 'a drawn-out sound long ago');
});

t.test('a voice that slides down at its end has finished', async (t) => {
  let phase = 0;
  const slides = (semitones: number) =>
    Float64Array.from({ length: samplesOf(450) }, (_, n) => {
      phase += (160 * 2 ** ((-semitones * n) / samplesOf(450) / 12)) / 8_000;
      return phase % 1 < 0.2 ? 1 : -0.25;
    });
  t.ok(heard(slides(0)));
  t.notOk(heard(slides(6)));
});

t.test('a voice that glides from vowel to vowel says a word', async (t) => {
  const voice = (gliding: boolean) => {
    let phase = 0;
    const length = samplesOf(450);
    let [before, last] = [0, 0];
    return Float64Array.from({ length }, (_, n) => {
      phase += 140 / 8_000;
      const hz = gliding ? 1_900 - (1_400 * n) / length : 600;
      const near = Math.exp((-Math.PI * 90) / 8_000);
      const sample =
        (phase % 1 < 0.1 ? 1 : -0.11) +
        2 * near * Math.cos((2 * Math.PI * hz) / 8_000) * last -
        near ** 2 * before;
      [before, last] = [last, sample];
      return sample;
    });
  };
  t.ok(heard(voice(false)));
  t.notOk(heard(voice(true)));
});

t.test('the ends of what real voices say are no drawn-out sounds', async (t) => {
  const ends: string[] = [];
  let count = 0;
  for (const name of ['caller-thanks', 'caller-more-info', 'jfk-8k'] as const) {
    const recording = fromPcm(readFixture(name)).subarray(0, samplesOf(10_300));
    const clip = clipOf(name, recording);
    for (const { to } of clip?.spans ?? []) {
      count++;
      const pcm = throughMulaw(toPcm(clip!.sound.slice(0, to)));
      if (isDrawnOut(pcm.subarray(-samplesOf(DRAWN_OUT_MS)))) ends.push(`${name} ${to / 8}`);
    }
  }
  t.ok(count > 10, `${count} ends`);
  t.ok(ends.length <= 1, ends.join(', '));
});
