// Recorded voices window by window, as a lane of the VAD batch tells them.
import { encodeMulaw } from '../../../audio/g711.ts';
import { mulawLevelDb } from '../../../audio/levels.ts';
import { noise, type Recorded, readFixture } from '../fixtures.ts';

const WINDOW = 256;
/** Windows as loud as that are speech, in these recordings. */
const SPEECH_DB = -42;

export interface VoiceWindow {
  samples: Uint8Array;
  levelDb: number;
}

/** The windows of a recording that are speech, `gainDb` louder than it is, in even noise within +-`noiseAmplitude`. */
export function voiceWindows(name: Recorded, gainDb = 0, noiseAmplitude = 0): VoiceWindow[] {
  const gain = 10 ** (gainDb / 20);
  const clean = readFixture(name);
  const rest = noise(clean.length / 8, noiseAmplitude);
  const pcm = clean.map((sample, i) =>
    Math.max(-32768, Math.min(32767, Math.round(sample * gain) + (rest[i] ?? 0))),
  );
  const all = new Uint8Array(pcm.length);
  encodeMulaw(pcm, all);
  const windows: VoiceWindow[] = [];
  for (let end = WINDOW; end <= all.length; end += WINDOW) {
    const samples = all.subarray(end - WINDOW, end);
    const levelDb = mulawLevelDb(samples);
    if (levelDb >= SPEECH_DB + gainDb) windows.push({ samples, levelDb });
  }
  return windows;
}
