// What a voice sounds like: the same at any level, its pitch, and how unlike another's it is.
import t from 'tap';
import { encodeMulaw } from '../../../audio/g711.ts';
import { VoicePrint, VoiceSound } from '../../../audio/vad/voice-print.ts';
import { noise, toMulaw, tones } from '../fixtures.ts';
import { type VoiceWindow, voiceWindows } from './voices.ts';

function printOf(windows: readonly VoiceWindow[], most = 1_000): VoicePrint {
  const print = new VoicePrint(most);
  const sound = new VoiceSound();
  for (const [i, { samples }] of windows.entries()) {
    sound.take(samples, (i + 1) * 256);
    print.add(sound);
  }
  return print;
}

const WINDOW = 256;

/** Halves of a recording, every other second of it. */
const half = (windows: readonly VoiceWindow[], which: 0 | 1) =>
  windows.filter((_, i) => Math.floor(i / 31) % 2 === which);

t.test('the pitch of harmonics, and none of silence or after a gap', async (t) => {
  const mulaw = new Uint8Array(2_048);
  encodeMulaw(tones([125, 250, 375, 500], 256, 3_000), mulaw);
  const sound = new VoiceSound();
  sound.take(mulaw.subarray(0, 256), 256);
  sound.take(mulaw.subarray(0, 512), 512);
  t.ok(Math.abs(2 ** (sound.pitch! / 12) - 125) < 4, `${2 ** (sound.pitch! / 12)} Hz`);
  sound.take(mulaw.subarray(0, 1_024), 1_024);
  t.equal(sound.pitch, null, 'the window before is not known');
  sound.take(new Uint8Array(256).fill(0xff), 1_280);
  sound.take(new Uint8Array(256).fill(0xff), 1_536);
  t.equal(sound.pitch, null);
  t.ok(sound.shape.every(Number.isFinite));
});

t.test('a voice is like itself, as loud and fainter, and unlike others', async (t) => {
  const names = ['jfk-8k', 'caller-more-info'] as const;
  for (const name of names) {
    const own = printOf(half(voiceWindows(name), 0));
    const same = own.unlike(printOf(half(voiceWindows(name), 1)));
    const fainter = own.unlike(printOf(half(voiceWindows(name, -10), 1)));
    t.ok(same < 1, `${name} to itself: ${same}`);
    t.ok(Math.abs(fainter - same) < 0.3, `${name} 10 dB fainter: ${fainter}`);
    for (const other of names.filter((one) => one !== name)) {
      const apart = own.unlike(printOf(half(voiceWindows(other), 1)));
      t.ok(apart > 1 && apart > 2 * same, `${name} to ${other}: ${apart}`);
    }
  }
});

t.test(
  'noise that has risen is no part of a voice, and a window that is hardly more shows nothing of it',
  async (t) => {
    const own = printOf(half(voiceWindows('jfk-8k'), 0));
    const windows = voiceWindows('jfk-8k', 0, 900);
    const unlike = (told: boolean) => {
      const sound = new VoiceSound();
      const print = new VoicePrint(1_000);
      const rest = toMulaw(noise(1_024, 900));
      for (let end = WINDOW; told && end <= rest.length; end += WINDOW)
        sound.takeNoise(rest.subarray(end - WINDOW, end));
      for (const [i, { samples }] of half(windows, 1).entries()) {
        sound.take(samples, (i + 1) * WINDOW);
        print.add(sound);
      }
      sound.take(rest.subarray(0, WINDOW), 0);
      print.add(sound);
      return { unlike: own.unlike(print), clear: sound.clear };
    };
    const known = unlike(true);
    const unknown = unlike(false);
    t.ok(known.unlike < 1 && known.unlike < unknown.unlike / 2, `${known.unlike}, with it ${unknown.unlike}`);
    t.equal(known.clear, false);
    t.equal(unknown.clear, true);
  },
);

t.test('one speaker in two recordings is one voice', async (t) => {
  const own = printOf(voiceWindows('caller-more-info'));
  const same = own.unlike(printOf(voiceWindows('voicemail-greeting-with-beep')));
  t.ok(same < 0.7, `${same}`);
});

t.test('stretches joined are as if heard in one', async (t) => {
  const windows = voiceWindows('jfk-8k');
  const all = printOf(windows);
  const joined = printOf(windows.slice(0, 70));
  joined.join(new VoicePrint(10));
  t.equal(joined.windows, 70, 'nothing is nothing');
  joined.join(printOf(windows.slice(70)));
  t.equal(joined.windows, windows.length);
  t.ok(all.unlike(joined) < 0.3, `${all.unlike(joined)}`);
  const copy = new VoicePrint(1_000);
  copy.copy(joined);
  t.equal(all.unlike(copy), all.unlike(joined));
  copy.clear();
  t.equal(copy.windows, 0);
});
