// A call's recording while it lives: the timeline of both voices, written to its file. What is said until the file is open
// is kept.
import { FRAME_BYTES } from '../../audio/g711.ts';
import { openRecording } from '../../audio/recording.ts';
import { RecordingTimeline } from './recording-timeline.ts';

export interface CallRecorder {
  readonly timeline: RecordingTimeline;
  /** Once a tick. */
  tick(nowMs: number): void;
  /** Ends the file. Null when it could not be opened, which was told. */
  close(nowMs: number): Promise<{ frames: number; dropped: number } | null>;
}

/**
 * Begins a recording at once, and opens its file meanwhile.
 * @param path absolute; the folder exists
 * @param onError told once when the file cannot be opened
 */
export function openCallRecorder(path: string, onError: (error: unknown) => void): CallRecorder {
  const timeline = new RecordingTimeline();
  const opening = openRecording(path).then(
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
  return {
    timeline,
    tick: (nowMs) => timeline.tick(nowMs),
    async close(nowMs) {
      const file = await opening;
      if (file === null) return null;
      timeline.close(nowMs);
      const { frames, droppedFrames } = await file.close();
      return { frames, dropped: droppedFrames + Math.ceil(timeline.lateSamples / FRAME_BYTES) };
    },
  };
}
