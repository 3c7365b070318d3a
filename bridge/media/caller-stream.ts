// The caller's sound as one stream of the carrier brings it, in its own format: each frame timed, and all of them made one sound
// without gaps.
// Who listens to that is caller-audio.ts.

import { type AudioFormat, bytesPerMs } from '../../audio/format.ts';
import { GapFiller } from '../../audio/gap-filler.ts';
import type { CallerAudio } from './caller-audio.ts';
import type { CallerClock } from './caller-clock.ts';
import type { StreamAges } from './frame-age.ts';

/**
 * Without a frame for this long the line sends none: a pause of its carrier, and nothing to be listened to. TCP sends a lost
 * segment again sooner; a carrier that sends no silence has its callers answered so much later.
 */
const NO_SOUND_MS = 500;

export class CallerStream {
  readonly #audio: CallerAudio;
  readonly #clock: CallerClock;
  readonly #ages: StreamAges;
  readonly #filler: GapFiller;
  readonly #bytesPerMs: number;

  /** @param o.format what the stream brings */
  constructor(o: { audio: CallerAudio; clock: CallerClock; ages: StreamAges; format: AudioFormat }) {
    this.#audio = o.audio;
    this.#clock = o.clock;
    this.#ages = o.ages;
    this.#filler = new GapFiller(o.audio.hear, { format: o.format });
    this.#bytesPerMs = bytesPerMs(o.format);
  }

  /** A frame of any length, with the carrier's time of it and its number. Passed on before it returns. */
  frame(payload: Buffer, timestampMs: number, chunk: number, nowMs: number): void {
    const filler = this.#filler;
    if (filler.positionMs === 0) this.#clock.begin(Math.max(0, nowMs - payload.length / this.#bytesPerMs));
    this.#ages.frame(nowMs, timestampMs);
    filler.push(payload, timestampMs, chunk);
    this.#clock.came(filler.positionMs, nowMs);
  }

  /** Once a tick. Answers up to when the caller was listened to: what waits on the network or for the detector may be speech. */
  tick(nowMs: number): number {
    this.#filler.tick(nowMs, this.#audio.speaking());
    const heardMs = this.#audio.heardMs();
    return this.#filler.withoutFrameMs >= NO_SOUND_MS ? Math.max(nowMs, heardMs) : heardMs;
  }

  /** Nothing of the stream is listened to any more. Answers what had to be mended of it. */
  close(): GapFiller['counters'] {
    this.#audio.close();
    return this.#filler.counters;
  }
}
