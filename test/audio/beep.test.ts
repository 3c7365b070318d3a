// Beeps of answering machines found among speech, ringback and other tones.
import t from 'tap';
import { type Beep, BeepDetector } from '../../audio/beep.ts';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import { join, noise, type Recorded, readFixture, silence, tones } from './fixtures.ts';

/** Every beep in a sound, as a phone line carries it, given in pieces of `size` samples. */
function beepsIn(pcm: Int16Array, size = 160): Beep[] {
  const coded = new Uint8Array(pcm.length);
  encodeMulaw(pcm, coded);
  const line = new Int16Array(pcm.length);
  decodeMulaw(coded, line);
  const detector = new BeepDetector();
  const beeps: Beep[] = [];
  for (let from = 0; from < line.length; from += size) {
    const beep = detector.push(line.subarray(from, from + size));
    if (beep !== null) beeps.push(beep);
  }
  return beeps;
}

const mix = (a: Int16Array, b: Int16Array) => a.map((sample, n) => sample + (b[n] ?? 0));

t.test('a tone of 100 ms to 5 s between 350 and 2000 Hz, then silence -> one beep', async (t) => {
  for (const hz of [400, 425, 440, 480, 500, 700, 800, 825, 1000, 1400, 1990]) {
    for (const ms of [120, 200, 1000, 4900]) {
      const beeps = beepsIn(join(silence(250), tones([hz], ms), silence(500)));
      t.equal(beeps.length, 1, `${hz} Hz, ${ms} ms`);
      t.ok(Math.abs(beeps[0]!.frequencyHz - hz) <= 3, `told as ${beeps[0]!.frequencyHz} Hz`);
      t.ok(Math.abs(beeps[0]!.startSample - 250 * 8) <= 320);
      t.ok(Math.abs(beeps[0]!.endSample - (250 + ms) * 8) <= 320);
    }
  }
});

t.test('wherever the frames cut the tone, and whatever the pieces -> the same one beep', async (t) => {
  for (const offsetMs of [3, 7, 11, 17]) {
    const sound = join(silence(200 + offsetMs), tones([1000], 100), silence(300));
    for (const size of [1, 80, 160, 257, 4000])
      t.equal(beepsIn(sound, size).length, 1, `${offsetMs} ms, ${size}`);
  }
});

t.test('a quiet beep on a noisy line, and one with some distortion -> heard', async (t) => {
  const quiet = join(silence(300), tones([1000], 400, 600), silence(400));
  t.equal(beepsIn(mix(quiet, noise(1100, 100))).length, 1);
  const distorted = tones([800], 400).map((sample, n) => sample + (tones([1600], 400, 700)[n] ?? 0));
  t.equal(beepsIn(join(silence(300), distorted, silence(400))).length, 1);
});

t.test('too short, too long, not over, out of range -> no beep', async (t) => {
  const sounds: Record<string, Int16Array> = {
    'a click of 40 ms': join(tones([1000], 40), silence(500)),
    'a tone of 6 s': join(tones([1000], 6000), silence(500)),
    'a tone that goes on': tones([1000], 3000),
    'a tone with speech right after it': join(
      tones([1000], 300),
      readFixture('jfk-8k').subarray(2600, 20000),
    ),
    '250 Hz': join(tones([250], 400), silence(500)),
    '2400 Hz': join(tones([2400], 400), silence(500)),
    'below hearing on a phone': join(tones([1000], 400, 60), silence(500)),
    silence: silence(1000),
    noise: join(noise(1000, 8000), silence(500)),
  };
  for (const [name, sound] of Object.entries(sounds)) t.same(beepsIn(join(silence(100), sound)), [], name);
});

t.test('tones of the network, of keys and of a fax -> no beep', async (t) => {
  const sounds: Record<string, Int16Array> = {
    'ringback 440+480 Hz, 2 s': join(tones([440, 480], 2000), silence(500)),
    'ringback cut short': join(tones([440, 480], 200), silence(500)),
    'dial tone 350+440 Hz': join(tones([350, 440], 1000), silence(500)),
    'busy 480+620 Hz': join(tones([480, 620], 500), silence(500)),
    'key 1, 697+1209 Hz': join(tones([697, 1209], 100), silence(300)),
    'key 0, 941+1336 Hz': join(tones([941, 1336], 200), silence(300)),
    'fax calling, 1100 Hz': join(tones([1100], 500), silence(3000)),
    'fax calling, 1138 Hz': join(tones([1135], 500), silence(3000)),
    'fax answering, 2100 Hz': join(tones([2100], 3000), silence(500)),
    'information tones, no such number': join(
      tones([985.2], 380),
      tones([1428.5], 380),
      tones([1776.7], 380),
      silence(500),
    ),
    'information tones, 30 ms apart': join(
      tones([913.8], 274),
      silence(30),
      tones([1370.6], 274),
      silence(30),
      tones([1776.7], 380),
      silence(500),
    ),
  };
  for (const [name, sound] of Object.entries(sounds)) t.same(beepsIn(join(silence(200), sound)), [], name);
});

t.test('real speech -> no beep, at any pitch', async (t) => {
  for (const name of ['jfk-8k', 'caller-thanks', 'caller-more-info'] satisfies Recorded[]) {
    const speech = readFixture(name);
    for (const speed of [0.8, 1, 1.2, 1.5, 1.9]) {
      const faster = Int16Array.from(
        { length: Math.floor(speech.length / speed) },
        (_, n) => speech[Math.floor(n * speed)]!,
      );
      t.same(beepsIn(join(faster, silence(300))), [], `${name} at speed ${speed}`);
    }
  }
});

t.test('a voicemail greeting -> its beep at the end and no other', async (t) => {
  const greeting = readFixture('voicemail-greeting-with-beep');
  const beeps = beepsIn(join(greeting, silence(300)));
  t.equal(beeps.length, 1);
  t.equal(beeps[0]!.frequencyHz, 700);
  t.ok(beeps[0]!.startSample > 10_400 * 8 && beeps[0]!.startSample < 10_540 * 8);
});
