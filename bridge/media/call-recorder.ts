// A call's recording while it lives: the timeline of both voices, written to its file. What is said until the file is open
// is kept. Of a call that is not recorded, or not any more, nothing is.
import { FRAME_BYTES } from '../../audio/format.ts';
import { openRecording } from '../../audio/recording.ts';
import { RecordingTimeline } from './recording-timeline.ts';

type Recorded = { frames: number; dropped: number };

export class CallRecorder {
  readonly #path: string | null;
  readonly #fromMs: number;
  readonly #now: () => number;
  readonly #onError: (error: unknown) => void;
  #timeline: RecordingTimeline | null = null;
  #opening: ReturnType<typeof openFile> | null = null;
  #ending: Promise<Recorded | null> | null = null;

  /**
   * @param o.path absolute; the folder exists. Null: the call is not recorded
   * @param o.fromMs where the file begins on the call's clock: all times that come are of that
   * @param o.onError told once when the file cannot be opened
   */
  constructor(o: {
    path: string | null;
    fromMs?: number;
    now: () => number;
    onError: (error: unknown) => void;
  }) {
    this.#path = o.path;
    this.#fromMs = o.fromMs ?? 0;
    this.#now = o.now;
    this.#onError = o.onError;
  }

  /** Begins at once, and opens the file meanwhile. Where it goes on already, or has ended, nothing happens. */
  start(): void {
    if (this.#path === null || this.#timeline !== null || this.#ending !== null) return;
    this.#timeline = new RecordingTimeline();
    this.#opening = openFile(this.#path, this.#timeline, this.#onError);
  }

  /** The caller's mu-law. `atMs` is where the carrier's time puts its first sample on the call's clock. */
  caller(mulaw: Uint8Array, atMs: number): void {
    this.#timeline?.caller(mulaw, atMs - this.#fromMs, this.#now() - this.#fromMs);
  }

  /** mu-law of the agent's, handed to the carrier now. */
  agent(mulaw: Uint8Array, nowMs: number): void {
    this.#timeline?.agent(mulaw, nowMs - this.#fromMs);
  }

  /** A mark goes out behind what was handed over. */
  mark(name: string): void {
    this.#timeline?.mark(name);
  }

  /** A mark has come back. */
  markBack(name: string, nowMs: number): void {
    this.#timeline?.markBack(name, nowMs - this.#fromMs);
  }

  /** The carrier's buffer is gone: what it had not played is silence. */
  cleared(nowMs: number): void {
    this.#timeline?.cleared(nowMs - this.#fromMs);
  }

  /** The line is gone: what it is not known to have played is silence. */
  lost(): void {
    this.#timeline?.lost();
  }

  /** Once a tick. */
  tick(nowMs: number): void {
    this.#timeline?.tick(nowMs - this.#fromMs);
  }

  /** Ends the file. Null when there is none, or it could not be opened, which was told. Safe to call twice. */
  close(nowMs: number): Promise<Recorded | null> {
    this.#ending ??= this.#end(this.#timeline, nowMs - this.#fromMs);
    this.#timeline = null;
    return this.#ending;
  }

  async #end(timeline: RecordingTimeline | null, nowMs: number): Promise<Recorded | null> {
    const file = await this.#opening;
    if (timeline === null || !file) return null;
    timeline.close(nowMs);
    const { frames, droppedFrames } = await file.close();
    return { frames, dropped: droppedFrames + Math.ceil(timeline.lateSamples / FRAME_BYTES) };
  }
}

function openFile(path: string, timeline: RecordingTimeline, onError: (error: unknown) => void) {
  return openRecording(path).then(
    (file) => {
      timeline.start((caller, agent) => file.write(caller, agent));
      return file;
    },
    (error: unknown) => {
      timeline.start(() => {});
      onError(error);
      return null;
    },
  );
}
