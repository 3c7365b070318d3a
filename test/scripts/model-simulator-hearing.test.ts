// The simulator's ears: a known recording gives its words and nothing else does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Ears, type WordTime } from '../../scripts/model-simulator/hearing.ts';
import { Voice } from '../../scripts/model-simulator/voice.ts';
import { fromMulaw, sound, toMulaw } from './model-simulator-client.ts';

const folder = join(import.meta.dirname, '..', '..', 'scripts', 'model-simulator');
const hears = JSON.parse(readFileSync(join(folder, 'hears.json'), 'utf8')) as {
  file: string;
  words: WordTime[];
}[];
const clips = hears.map(({ file, words }) => {
  const name = file.split('/').at(-1)!;
  return { name, words, samples: sound(name) };
});
const ears = new Ears(clips);
const line = (samples: Int16Array) => fromMulaw(toMulaw(samples));

/** What is said in the recordings, from their sources. */
const SAID: Record<string, string> = {
  'jfk-8k.wav':
    'And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.',
  'voicemail-greeting-with-beep.wav':
    'The person at extension 4 2 is unavailable. Please leave your message after the tone. When done, hang up or press the pound key.',
  'caller-thanks.wav': 'Goodbye. Thank you for trying out the Asterisk open source PBX.',
  'caller-more-info.wav':
    'Asterisk is an open source full featured PBX and IVR platform that runs on the Linux operating system. For more information, visit www dot Asterisk dot org.',
};

for (const { name, samples, words } of clips) {
  t.test(`${name} through a phone line gives its words`, async (t) => {
    t.equal(ears.recognize(line(samples)).text, SAID[name]);
  });

  t.test(`half of ${name} gives half of its words`, async (t) => {
    const half = Math.floor(samples.length / 2);
    const before = words.filter(([, endMs]) => endMs <= half / 8).map(([, , word]) => word);
    const after = words.filter(([startMs]) => startMs >= half / 8).map(([, , word]) => word);
    const first = ears.recognize(line(samples.subarray(0, half))).text.split(' ');
    const second = ears.recognize(line(samples.subarray(half))).text.split(' ');
    // The word that the cut goes through may belong to either.
    t.ok(Math.abs(first.length - before.length) <= 1, `${first.length} of ${before.length} words`);
    t.same(first.slice(0, before.length - 1), before.slice(0, before.length - 1));
    t.ok(Math.abs(second.length - after.length) <= 1, `${second.length} of ${after.length} words`);
    t.same(second.slice(-(after.length - 1)), after.slice(-(after.length - 1)));
  });

  t.test(`${name} is understood with another start, a lower level and lost frames`, async (t) => {
    const quiet = samples.map((sample) => sample * 0.4).subarray(77);
    for (let frame = 20; frame < quiet.length / 160; frame += 37)
      quiet.fill(0, frame * 160, frame * 160 + 160);
    const heard = ears.recognize(line(quiet)).text.split(' ');
    t.ok(heard.length >= 0.85 * words.length, `${heard.length} of ${words.length} words`);
  });

  t.test(`${name} in the wrong format is not understood`, async (t) => {
    const bytes = toMulaw(samples);
    const asPcm = Int16Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readInt16LE(2 * i));
    t.equal(ears.recognize(asPcm).text, '', 'mu-law taken for PCM');
    t.equal(ears.recognize(samples.filter((_, i) => i % 3 !== 2)).text, '', 'played half as fast again');
    const others = new Ears(clips.filter((clip) => clip.name !== name));
    t.ok(others.recognize(samples).words <= 1, 'nor taken for another recording');
  });
}

t.test('noise, tones and silence give nothing', async (t) => {
  let state = 1;
  const random = () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647 - 0.5;
  };
  t.equal(ears.recognize(Int16Array.from({ length: 80000 }, () => random() * 20000)).text, '', 'noise');
  t.equal(
    ears.recognize(
      Int16Array.from(
        { length: 80000 },
        (_, i) => random() * 20000 * (Math.sin((i / 8000) * 19) > 0 ? 1 : 0.01),
      ),
    ).text,
    '',
    'noise in bursts',
  );
  t.equal(
    ears.recognize(Int16Array.from({ length: 40000 }, (_, i) => 8000 * Math.sin(i / 2))).text,
    '',
    'a tone',
  );
  t.equal(ears.recognize(new Int16Array(40000)).text, '', 'silence');
  t.equal(ears.recognize(new Int16Array(0)).text, '', 'nothing');
});

t.test("the agent's own voice is none of the recordings", async (t) => {
  const voice = new Voice();
  for (const text of [
    'Hello, this is the automated assistant. How can I help you?',
    'what your country can do for you',
  ])
    t.equal(ears.recognize(fromMulaw(voice.speak(text).mulaw)).text, '', text);
});
