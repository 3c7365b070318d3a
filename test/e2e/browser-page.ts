// The page's side of a call in a real browser, for tests: loads the page's own module under the daemon's policy, starts a
// call with it, and listens to what goes to the loudspeaker.
import type { BrowserContext, Page } from 'playwright-core';

/** The page's own types are a browser's, which this program does not know. */
interface PageCall {
  callId: string;
  mute(on: boolean): void;
  type(text: string): void;
  press(digit: string): void;
  hangUp(): Promise<void>;
}
type StartBrowserCall = (o: {
  open(): Promise<unknown>;
  microphone: boolean;
  onState(state: Notes['states'][number]): void;
  onLevel(level: Notes['loudest']): void;
}) => Promise<PageCall>;

/** What the page leaves behind for the test, on `window`. */
interface Notes {
  states: { at: string; why?: string; message?: string | null }[];
  loudest: { microphone: number; agent: number };
  /** What went to the loudspeaker, at the context's rate. */
  sound: number[];
  /** Of it, samples louder than a line's noise. */
  loudCount: number;
  rateHz: number;
  open: number;
  call: PageCall | null;
  error: { code?: string; message: string } | null;
}

/** As far as the listener knows them; the browser's own types are not this program's. */
interface AudioContextLike {
  destination: unknown;
  sampleRate: number;
  createMediaStreamDestination(): { stream: { getAudioTracks(): unknown[] } };
}
interface AudioDataLike {
  numberOfFrames: number;
  copyTo(out: Float32Array, o: { planeIndex: number; format: string }): void;
  close(): void;
}
interface BrowserScope {
  AudioNode?: { prototype: { connect(this: unknown, to: unknown): unknown } };
  MediaStreamTrackProcessor: new (o: {
    track: unknown;
    maxBufferSize: number;
  }) => { readable: AsyncIterable<AudioDataLike> };
}

declare const window: { notes: Notes };

/** Runs before the page's own code: what is connected to the loudspeaker is listened to as well. */
export function listenIn(): void {
  const notes: Notes = {
    states: [],
    loudest: { microphone: 0, agent: 0 },
    sound: [],
    loudCount: 0,
    rateHz: 0,
    open: 0,
    call: null,
    error: null,
  };
  window.notes = notes;
  const scope = globalThis as unknown as BrowserScope;
  if (scope.AudioNode === undefined) return;
  const { connect } = scope.AudioNode.prototype;
  async function listen(track: unknown): Promise<void> {
    // Room for a second in which nobody reads.
    const { readable } = new scope.MediaStreamTrackProcessor({ track, maxBufferSize: 400 });
    for await (const piece of readable) {
      const samples = new Float32Array(piece.numberOfFrames);
      piece.copyTo(samples, { planeIndex: 0, format: 'f32-planar' });
      piece.close();
      for (const sample of samples) {
        notes.sound.push(sample);
        if (Math.abs(sample) > 0.03) notes.loudCount++;
      }
    }
  }
  scope.AudioNode.prototype.connect = function connectAndListen(to) {
    const { context } = this as { context: AudioContextLike };
    if (to === context.destination && notes.rateHz === 0) {
      notes.rateHz = context.sampleRate;
      const ear = context.createMediaStreamDestination();
      connect.call(this, ear);
      void listen(ear.stream.getAudioTracks()[0]);
    }
    return connect.call(this, to);
  };
}

export async function openPage(
  context: BrowserContext,
  url: string,
): Promise<{ page: Page; problems: string[] }> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (line) => {
    if (line.type() === 'error') problems.push(line.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.addInitScript(listenIn);
  await page.goto(url);
  return { page, problems };
}

/** Starts a call in the page, by its own module; `open` is answered by the test. */
export async function startCall(page: Page, microphone: boolean): Promise<void> {
  await page.evaluate(async (withMicrophone) => {
    const scope = globalThis as unknown as {
      document: { querySelector(what: string): { src: string } | null };
      openCall(): Promise<{ call_id: string; stream_path: string; token: string }>;
    };
    const entry = scope.document.querySelector('script[type=module]')?.src ?? '';
    const module = (await import(new URL('browser-call.ts', entry).href)) as {
      startBrowserCall: StartBrowserCall;
    };
    const { notes } = window;
    try {
      notes.call = await module.startBrowserCall({
        microphone: withMicrophone,
        open() {
          notes.open++;
          return scope.openCall();
        },
        onState: (state) => notes.states.push(state),
        onLevel(level) {
          notes.loudest.microphone = Math.max(notes.loudest.microphone, level.microphone);
          notes.loudest.agent = Math.max(notes.loudest.agent, level.agent);
        },
      });
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      notes.error = { message, ...(code === undefined ? {} : { code }) };
    }
  }, microphone);
}

export const notes = (page: Page) =>
  page.evaluate(() => ({ ...window.notes, call: window.notes.call?.callId ?? null, sound: null }));

/** Everything that went to the loudspeaker, at 8 kHz. */
export async function loudspeaker(page: Page): Promise<Float32Array> {
  const { sound, rateHz } = await page.evaluate(() => ({
    sound: window.notes.sound,
    rateHz: window.notes.rateHz,
  }));
  // Averages over the step: what was made from 8 kHz holds nothing above 4.
  const step = rateHz / 8_000;
  return Float32Array.from({ length: Math.floor(sound.length / step) }, (_, i) => {
    const from = Math.round(i * step);
    const to = Math.round((i + 1) * step);
    let sum = 0;
    for (let at = from; at < to; at++) sum += sound[at] ?? 0;
    return (32_768 * sum) / (to - from);
  });
}
