// A phone line on a clock of its own: the carrier plays what it is sent, frame by frame, marks and clears as Twilio does, and
// the far end gives back the caller's voice with the agent's echo. Also the sockets' delay, both ways.
import { FRAME_BYTES, FRAME_MS, MULAW_SILENCE } from '../../audio/format.ts';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import { mulawLevelDb } from '../../audio/levels.ts';
import type { MediaMessage, MediaWire } from '../../bridge/carriers/media-wire.ts';

/** From the carrier to the daemon, and back. */
export const NETWORK_MS = 15;
/** A played frame fainter than this is not heard. */
const AUDIBLE_DB = -50;

/** One way of the agent's voice back: so many samples after the first, so loud beside the whole. */
export interface Tap {
  samples: number;
  gain: number;
}

export interface Echo {
  gainDb: number;
  delayMs: number;
  /** The ways through a room; one without. */
  taps?: readonly Tap[];
}

const ONE_WAY: readonly Tap[] = [{ samples: 0, gain: 1 }];

type Sent = { atMs: number } & ({ audio: Uint8Array } | { mark: string } | { clear: true });

export interface PhoneLine {
  /** What the daemon's wire is on this line: it keeps what is written. */
  readonly wire: MediaWire;
  /** Plays the frame that begins now and sends the caller's last one, at a multiple of 20 ms of the line's own clock. */
  step(nowMs: number): void;
  /** The next message that has reached the daemon by now, if any. */
  receive(nowMs: number): MediaMessage | null;
  /** Frames of the agent that could be heard, by when they began to play. */
  readonly audible: readonly number[];
  readonly clears: readonly number[];
}

/**
 * @param caller what the caller says, 8 kHz, from the stream's start on; silence after it
 * @param o.now the moment on the line's clock, for what the daemon sends
 * @param o.onPlayed told of each frame of 20 ms, or that none was there to be played
 */
export function createPhoneLine(
  caller: Int16Array,
  echo: Echo | null,
  o: { now(): number; onPlayed(frame: Int16Array | null): void },
): PhoneLine {
  const sent: Sent[] = [];
  const towards: { atMs: number; message: MediaMessage }[] = [];
  /** At the carrier: frames and marks in their order. */
  const buffer: (Uint8Array | string)[] = [];
  const played = new Int16Array(8 * 8_000);
  const audible: number[] = [];
  const clears: number[] = [];
  const frame = new Int16Array(FRAME_BYTES);
  const echoed = new Float64Array(FRAME_BYTES);
  const gain = echo === null ? 0 : 10 ** (echo.gainDb / 20);
  const taps = echo === null ? [] : (echo.taps ?? ONE_WAY);
  const delay = echo === null ? 0 : Math.round(echo.delayMs * 8);
  let chunk = 0;

  const back = (atMs: number, message: MediaMessage) => towards.push({ atMs: atMs + NETWORK_MS, message });

  function arrive(nowMs: number): void {
    while (sent.length > 0 && sent[0]!.atMs + NETWORK_MS <= nowMs) {
      const one = sent.shift()!;
      if ('audio' in one) {
        for (let at = 0; at < one.audio.length; at += FRAME_BYTES)
          buffer.push(one.audio.subarray(at, at + FRAME_BYTES));
      } else if ('mark' in one) buffer.push(one.mark);
      else {
        clears.push(nowMs);
        for (const left of buffer.splice(0))
          if (typeof left === 'string') back(nowMs, { type: 'mark', name: left });
      }
    }
  }

  function play(nowMs: number): void {
    const at = (nowMs * 8) % played.length;
    let next = buffer.shift();
    // Marks of what was played to its end before.
    while (typeof next === 'string') {
      back(nowMs, { type: 'mark', name: next });
      next = buffer.shift();
    }
    if (next === undefined) {
      played.fill(0, at, at + FRAME_BYTES);
      o.onPlayed(null);
      return;
    }
    decodeMulaw(next, frame);
    played.set(frame, at);
    o.onPlayed(frame);
    if (mulawLevelDb(next) > AUDIBLE_DB) audible.push(nowMs);
  }

  function hearEcho(fromSample: number): void {
    echoed.fill(0);
    for (const { samples, gain: share } of taps) {
      let at = fromSample - delay - samples;
      if (at < 0) at += played.length;
      for (let i = 0; i < FRAME_BYTES; i++) {
        echoed[i]! += played[at]! * gain * share;
        if (++at === played.length) at = 0;
      }
    }
  }

  function speak(nowMs: number): void {
    const from = (nowMs - FRAME_MS) * 8;
    hearEcho(from % played.length);
    for (let i = 0; i < FRAME_BYTES; i++) {
      const own = caller[from + i] ?? 0;
      frame[i] = Math.max(-32768, Math.min(32767, Math.round(own + echoed[i]!)));
    }
    const payload = Buffer.alloc(FRAME_BYTES, MULAW_SILENCE);
    encodeMulaw(frame, payload);
    back(nowMs, { type: 'audio', payload, timestampMs: nowMs - FRAME_MS, chunk: ++chunk });
  }

  return {
    audible,
    clears,
    wire: {
      clearReturnsMarks: true,
      decode: () => ({ type: 'ignored', event: 'none' }),
      audio(_message, _id, payload) {
        sent.push({ atMs: o.now(), audio: Uint8Array.from(payload) });
      },
      mark(_message, _id, name) {
        sent.push({ atMs: o.now(), mark: name });
      },
      clear() {
        sent.push({ atMs: o.now(), clear: true });
      },
    },
    step(nowMs) {
      arrive(nowMs);
      play(nowMs);
      if (nowMs > 0) speak(nowMs);
    },
    receive(nowMs) {
      return towards.length > 0 && towards[0]!.atMs <= nowMs ? towards.shift()!.message : null;
    },
  };
}
