// From the VAD's windows to what the turn rules are told of the caller's voice: the agent's own echo taken out, speech found,
// each change told once. PURE: the windows and the clock come from outside.
import type { EchoGuard } from '../../audio/echo-guard.ts';
import { SPEECH_DEFAULTS, SpeechDetector, type SpeechOptions } from '../../audio/vad/speech-detector.ts';
import { QUIET_VOICE, type Voice } from '../turns/voice.ts';

/** The detector and the noise floor have not settled on a new line: speech must last longer to count. */
const SETTLING_MS = 1_000;
const SETTLING_START_MS = 320;
const WINDOW_MS = 32;

export interface CallerVoiceListener {
  voice(voice: Voice): void;
  speechStarted(onsetMs: number): void;
  speechEnded(endMs: number): void;
  /** What had started then was no speech. Instead of its end. */
  speechTakenBack(onsetMs: number): void;
}

export interface CallerVoice {
  /** A window of 32 ms; `endSample` on the stream's own clock. */
  window(probability: number, endSample: number, levelDb: number): void;
  /** A new stream, whose sample 0 stands at `offsetMs`. */
  restart(offsetMs: number): void;
  /** Moves sample 0: the first frame has shown where it stands. */
  shift(offsetMs: number): void;
  /** From speech that has started until it has ended. */
  speaking(): boolean;
  /** The end of the last window, on the call's clock. */
  heardMs(): number;
}

export function createCallerVoice(
  listener: CallerVoiceListener,
  guard: EchoGuard | null = null,
  options: Partial<SpeechOptions> = {},
): CallerVoice {
  const settled: SpeechOptions = { ...SPEECH_DEFAULTS, ...options };
  const detector = new SpeechDetector(settled);
  let offsetMs = 0;
  let heardSample = 0;
  let settling = false;
  /** Of the speech that goes on: its stops so far, and where the one that lasts began. */
  let pausedMs = 0;
  let quietMs: number | null = null;

  function settle(): void {
    settling = true;
    detector.configure({ startMs: Math.max(settled.startMs, SETTLING_START_MS) });
  }
  settle();

  const at = (sample: number) => offsetMs + sample / 8;

  return {
    window(probability, endSample, levelDb) {
      heardSample = endSample;
      if (settling && endSample >= SETTLING_MS * 8) {
        settling = false;
        detector.configure({ startMs: settled.startMs });
      }
      const echo =
        guard !== null && probability >= settled.stopProbability && guard.explains(at(endSample), levelDb);
      const before = detector.state;
      const event = detector.push(echo ? 0 : probability, endSample, levelDb);
      const now = detector.state;
      if (now !== before) {
        switch (now.phase) {
          case 'quiet':
            quietMs = null;
            listener.voice(QUIET_VOICE);
            break;
          case 'starting':
            listener.voice({ is: 'starting', onsetMs: at(now.onsetSample) });
            break;
          case 'speaking':
            if (quietMs === null) pausedMs = 0;
            else pausedMs += at(endSample) - WINDOW_MS - quietMs;
            quietMs = null;
            listener.voice({ is: 'speaking', onsetMs: at(now.onsetSample), pausedMs });
            break;
          case 'stopping':
            quietMs = at(now.quietSample);
            listener.voice({ is: 'stopping', onsetMs: at(now.onsetSample), quietMs: at(now.quietSample) });
        }
      }
      if (event === null) return;
      if (event.type === 'speech-started') listener.speechStarted(at(event.atSample));
      else if (event.type === 'speech-ended') listener.speechEnded(at(event.atSample));
      else listener.speechTakenBack(at(event.atSample));
    },
    restart(newOffsetMs) {
      offsetMs = newOffsetMs;
      heardSample = 0;
      detector.reset();
      quietMs = null;
      settle();
    },
    shift(newOffsetMs) {
      offsetMs = newOffsetMs;
    },
    speaking: () => detector.speaking,
    heardMs: () => at(heardSample),
  };
}
