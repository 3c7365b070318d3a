// What stands in for the telephone on a page: microphone and speaker by the audio worklet, or, where a browser has no
// sound, a silent line that plays to nobody at the right pace. Opens and closes them; knows no socket.
import { Playback } from './call-playback.ts';
import { FRAME_BYTES, LINE_RATE_HZ, SILENCE } from './call-sound.ts';
import type { FromWorklet, ToWorklet } from './call-worklet.ts';

export type BrowserCallErrorCode =
  | 'insecure_page'
  | 'permission_denied'
  | 'no_microphone'
  | 'microphone_busy'
  | 'no_audio'
  | 'connection_failed';

/** Why a call could not be started; the message is for the person. */
export class BrowserCallError extends Error {
  readonly code: BrowserCallErrorCode;

  constructor(code: BrowserCallErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BrowserCallError';
    this.code = code;
  }
}

export interface LineEvents {
  /** 20 ms of mu-law for the other side; silence where there is no microphone. Comes without a pause. */
  frame(payload: Uint8Array): void;
  /** A mark's audio was played, or cleared. */
  played(name: string): void;
  level(level: { microphone: number; agent: number }): void;
  /** The microphone was taken away in the middle of the call. */
  microphoneLost(): void;
}

export interface Line {
  play(payload: Uint8Array): void;
  mark(name: string): void;
  clear(): void;
  mute(on: boolean): void;
  close(): Promise<void>;
}

/** A browser that has not let a page make sound by now will not without another click. */
const RESUME_MS = 2_000;

const CONSTRAINTS: MediaStreamConstraints = {
  audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
};

/** Asks for the microphone. @throws BrowserCallError with what the person can do */
export async function openMicrophone(): Promise<MediaStream> {
  if (!window.isSecureContext || navigator.mediaDevices === undefined) {
    throw new BrowserCallError(
      'insecure_page',
      'Browsers give the microphone only to pages over HTTPS, or on localhost. Open this page that way, or type instead.',
    );
  }
  try {
    return await navigator.mediaDevices.getUserMedia(CONSTRAINTS);
  } catch (error) {
    throw microphoneError(error);
  }
}

function microphoneError(error: unknown): BrowserCallError {
  const options = { cause: error };
  switch (error instanceof DOMException ? error.name : '') {
    case 'NotAllowedError':
    case 'SecurityError':
      return new BrowserCallError(
        'permission_denied',
        'The microphone was not allowed. Allow it for this page, by the sign beside the address, or type instead.',
        options,
      );
    case 'NotFoundError':
    case 'OverconstrainedError':
      return new BrowserCallError(
        'no_microphone',
        'No microphone was found. Plug one in and try again, or type instead.',
        options,
      );
    default:
      return new BrowserCallError(
        'microphone_busy',
        'The microphone could not be opened. Another program may be using it: close that and try again, or type instead.',
        options,
      );
  }
}

/**
 * Opens the line. Without a microphone it falls back to a silent one where the browser makes no sound.
 * @throws BrowserCallError no_audio, when there is a microphone and no sound
 */
export async function openLine(microphone: MediaStream | null, events: LineEvents): Promise<Line> {
  try {
    return await openSoundLine(microphone, events);
  } catch (error) {
    if (microphone === null) return openSilentLine(events);
    throw new BrowserCallError(
      'no_audio',
      'This browser plays no sound here. Click into the page and try again, or use another browser.',
      { cause: error },
    );
  }
}

async function openSoundLine(microphone: MediaStream | null, events: LineEvents): Promise<Line> {
  const context = new AudioContext({ latencyHint: 'interactive' });
  try {
    // Sound is asked for at once, while the click still counts.
    await Promise.all([
      running(context),
      context.audioWorklet.addModule(new URL('./call-worklet.ts', import.meta.url)),
    ]);
  } catch (error) {
    await context.close();
    throw error;
  }
  const node = new AudioWorkletNode(context, 'offhook-call', {
    numberOfInputs: 1,
    numberOfOutputs: 1,
    outputChannelCount: [1],
    channelCount: 1,
    channelCountMode: 'explicit',
  });
  const source = microphone === null ? null : context.createMediaStreamSource(microphone);
  source?.connect(node);
  node.connect(context.destination);
  let closed = false;

  /** Played is what has left the loudspeaker: the device's own delay comes after the worklet. */
  function tellPlayed(names: string[]): void {
    const delayMs = (context.outputLatency || context.baseLatency || 0) * 1000;
    const tell = () => {
      if (!closed) for (const name of names) events.played(name);
    };
    // Timers of a hidden page run late by up to a second; the delay is a small part of that.
    if (delayMs < 5 || document.hidden) tell();
    else setTimeout(tell, delayMs);
  }

  node.port.onmessage = ({ data }: MessageEvent<FromWorklet>) => {
    if (closed) return;
    if (data.type === 'frame') events.frame(data.payload);
    else if (data.type === 'played') tellPlayed(data.names);
    else events.level({ microphone: data.microphone, agent: data.agent });
  };
  for (const track of microphone?.getAudioTracks() ?? []) {
    track.addEventListener('ended', () => {
      if (!closed) events.microphoneLost();
    });
  }
  // A phone call or another page may take the sound away for a while.
  context.addEventListener('statechange', () => {
    if (!closed && context.state !== 'running') context.resume().catch(() => {});
  });

  const post = (message: ToWorklet, transfer: Transferable[] = []) =>
    node.port.postMessage(message, transfer);
  return {
    play: (payload) => post({ type: 'play', payload }),
    mark: (name) => post({ type: 'mark', name }),
    clear: () => post({ type: 'clear' }),
    mute: (on) => post({ type: 'mute', on }),
    async close() {
      if (closed) return;
      closed = true;
      post({ type: 'close' });
      source?.disconnect();
      node.disconnect();
      for (const track of microphone?.getTracks() ?? []) track.stop();
      await context.close();
    },
  };
}

async function running(context: AudioContext): Promise<void> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('The audio context did not start.')), RESUME_MS);
  });
  await Promise.race([context.resume(), late]);
}

/** How often a silent line catches up with the clock; a hidden page is called less often and owes more at once. */
const SILENT_TICK_MS = 40;

function openSilentLine(events: LineEvents): Line {
  const playback = new Playback();
  const perFrame = new Float32Array(FRAME_BYTES);
  const startedAt = performance.now();
  let frames = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) * LINE_RATE_HZ) / 1000 / FRAME_BYTES);
    for (; frames < due; frames++) {
      for (const name of playback.read(perFrame)) events.played(name);
      events.frame(new Uint8Array(FRAME_BYTES).fill(SILENCE));
    }
  }, SILENT_TICK_MS);
  return {
    play: (payload) => playback.push(payload),
    mark: (name) => playback.mark(name),
    clear() {
      for (const name of playback.clear()) events.played(name);
    },
    mute() {},
    async close() {
      clearInterval(timer);
    },
  };
}
