// How a page gets the live stream: from the worker that all tabs of this browser share, so that they hold one connection
// together; in a browser without shared workers, by a connection of its own.
import { createLiveSource, type SourceListener, type StreamState } from './live-source.ts';
import type { LiveEvent } from './live-state.ts';

export type ToWorker = 'want' | 'drop' | 'still' | 'now';
export type FromWorker =
  | { type: 'event'; event: LiveEvent }
  | { type: 'state'; state: StreamState }
  | { type: 'signed_out' };

/** How often a page that wants the stream says that it is still there: nothing else tells a worker that a tab is gone. */
export const STILL_MS = 15_000;

export interface LiveLink {
  /** The stream is to be told from now on, beginning with a snapshot. */
  want(): void;
  drop(): void;
  /** Tries at once where the stream is lost. */
  now(): void;
}

/** Told nothing until it is wanted. */
export function openLiveLink(listener: SourceListener): LiveLink {
  let wanted = false;
  let own: LiveLink | null = null;

  function alone(): LiveLink {
    const source = createLiveSource(listener);
    return { want: source.open, drop: source.close, now: source.open };
  }

  function shared(): LiveLink {
    const worker = new SharedWorker(new URL('./live-worker.ts', import.meta.url), {
      type: 'module',
      name: 'offhook-live',
    });
    const tell = (what: ToWorker) => worker.port.postMessage(what);
    worker.port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === 'event') listener.event(data.event);
      else if (data.type === 'state') listener.state(data.state);
      else listener.signedOut();
    };
    // It could not be loaded, as when the daemon has another version by now: this page goes on by itself.
    worker.onerror = () => {
      worker.port.onmessage = null;
      own = alone();
      if (wanted) own.want();
    };
    let timer: ReturnType<typeof setInterval> | undefined;
    const drop = () => {
      clearInterval(timer);
      tell('drop');
    };
    addEventListener('pagehide', () => tell('drop'));
    return {
      want() {
        tell('want');
        clearInterval(timer);
        timer = setInterval(() => tell('still'), STILL_MS);
      },
      drop,
      now: () => tell('now'),
    };
  }

  own = 'SharedWorker' in globalThis ? shared() : alone();
  return {
    want() {
      wanted = true;
      own?.want();
    },
    drop() {
      wanted = false;
      own?.drop();
    },
    now: () => own?.now(),
  };
}
