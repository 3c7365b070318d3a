// The two voices of a call on one timeline, written a little late so that frames that come in a burst find their place.
// Left: the caller, by the stream's own clock. Right: the agent as the carrier plays it.
import { decodeMulaw } from '../../audio/g711.ts';
import { openRecording } from '../../audio/recording.ts';

const RATE = 8;
const FRAME = 160;
/** Frames later than this find their place taken by silence. */
const LAG_MS = 2_000;
const RING = 4_000 * RATE;

export interface CallRecorder {
  /** The caller's mu-law; `atMs` is where its first sample stands on the call's clock. */
  caller(payload: Uint8Array, atMs: number): void;
  /** mu-law handed to the carrier now, after what it still has to play. */
  agent(payload: Uint8Array, nowMs: number): void;
  /** The carrier's buffer was cleared: what it had not played is silence. */
  agentCleared(nowMs: number): void;
  /** Once a tick. */
  tick(nowMs: number): void;
  close(nowMs: number): Promise<{ frames: number; dropped: number }>;
}

/** @param path absolute; the folder exists */
export async function openCallRecorder(path: string): Promise<CallRecorder> {
  const file = await openRecording(path);
  const left = new Int16Array(RING);
  const right = new Int16Array(RING);
  const pcm = new Int16Array(4_096);
  let written = 0;
  let agentUntil = 0;
  let late = 0;

  function place(ring: Int16Array, at: number, samples: Int16Array): void {
    for (let i = 0; i < samples.length; i++) {
      const position = at + i;
      if (position < written) late++;
      else if (position < written + RING) ring[position % RING] = samples[i] ?? 0;
    }
  }

  function decode(payload: Uint8Array): Int16Array {
    const samples = payload.length <= pcm.length ? pcm : new Int16Array(payload.length);
    return samples.subarray(0, decodeMulaw(payload, samples));
  }

  function flush(until: number): void {
    while (written + FRAME <= until) {
      const at = written % RING;
      const callerFrame = left.subarray(at, at + FRAME);
      const agentFrame = right.subarray(at, at + FRAME);
      file.write(callerFrame, agentFrame);
      callerFrame.fill(0);
      agentFrame.fill(0);
      written += FRAME;
    }
  }

  return {
    caller: (payload, atMs) => place(left, Math.max(0, Math.round(atMs * RATE)), decode(payload)),
    agent(payload, nowMs) {
      const now = Math.round(nowMs * RATE);
      if (agentUntil < now) agentUntil = now;
      place(right, agentUntil, decode(payload));
      agentUntil += payload.length;
    },
    agentCleared(nowMs) {
      const now = Math.max(written, Math.round(nowMs * RATE));
      for (let position = now; position < agentUntil; position++) right[position % RING] = 0;
      agentUntil = Math.min(agentUntil, now);
    },
    tick: (nowMs) => flush(Math.round((nowMs - LAG_MS) * RATE)),
    async close(nowMs) {
      flush(Math.ceil((nowMs * RATE) / FRAME) * FRAME);
      const { frames, droppedFrames } = await file.close();
      return { frames, dropped: droppedFrames + Math.ceil(late / FRAME) };
    },
  };
}
