// Who is given the caller's sound, and when.
import t from 'tap';
import { EchoGuard } from '../../../audio/echo-guard.ts';
import { FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import { CallRecorder } from '../../../bridge/media/call-recorder.ts';
import { CallerAudio } from '../../../bridge/media/caller-audio.ts';
import { CallerClock } from '../../../bridge/media/caller-clock.ts';
import { deafVad } from './held-call.ts';

t.test('the echo guard is given it while an echo may come, and at no other time', async (t) => {
  const echo = new EchoGuard();
  const given: number[] = [];
  echo.heard = (_mulaw, atMs) => given.push(atMs);
  let talked = 0;
  const audio = new CallerAudio({
    talk: {
      voice() {},
      speechStarted() {},
      speechEnded() {},
      speechTakenBack() {},
      callerAudio: () => void talked++,
      waitingForBeep: () => false,
      beep() {},
    },
    clock: new CallerClock(0),
    echo,
    recorder: new CallRecorder({ path: null, now: () => 0, onError() {} }),
    vad: deafVad(),
    format: MULAW_8K,
  });
  const frame = Buffer.alloc(FRAME_BYTES, 0x20);
  for (let ms = 0; ms < 4_000; ms += FRAME_MS) {
    if (ms === 1_000) echo.played(Buffer.alloc(10 * FRAME_BYTES, 0x10), ms);
    audio.hear(frame, ms, false, 0);
  }
  t.equal(talked, 200);
  t.equal(given[0], 1_000, 'from the first sound played');
  t.equal(given.at(-1), 1_780, 'to the last that its echo could come at');
  audio.close();
});
