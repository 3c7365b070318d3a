// The live stream for all tabs of a browser: one connection, open while a tab that can be seen wants it. Browsers allow six
// connections to a host over plain HTTP, and a stream per tab would use them up. Runs as a shared worker.
import { type FromWorker, STILL_MS, type ToWorker } from './live-link.ts';
import { createLiveSource } from './live-source.ts';
import { fold, type LiveEvent, type LiveState } from './live-state.ts';

// The worker's own scope, of which TypeScript's library for pages knows nothing.
declare const self: { onconnect: ((event: MessageEvent) => void) | null };

/** A tab that is left for another one of ours is no reason to connect anew. */
const LINGER_MS = 3_000;
const GONE_MS = 4 * STILL_MS;

/** Tabs that want the stream, and when each was last heard of. */
const wanting = new Map<MessagePort, number>();
let calls: LiveState | null = null;
let leaving: ReturnType<typeof setTimeout> | undefined;

function tellAll(message: FromWorker): void {
  for (const port of wanting.keys()) port.postMessage(message);
}

const source = createLiveSource({
  event(event) {
    calls = fold(calls ?? new Map(), event);
    tellAll({ type: 'event', event });
  },
  state(state) {
    if (state.state !== 'open') calls = null;
    tellAll({ type: 'state', state });
  },
  signedOut() {
    tellAll({ type: 'signed_out' });
    wanting.clear();
  },
});

function leave(port: MessagePort): void {
  wanting.delete(port);
  if (wanting.size > 0) return;
  clearTimeout(leaving);
  leaving = setTimeout(source.close, LINGER_MS);
}

function hear(port: MessagePort, what: ToWorker): void {
  if (what === 'drop') {
    leave(port);
    return;
  }
  const isNew = !wanting.has(port);
  if (what === 'still' && isNew) return;
  wanting.set(port, Date.now());
  clearTimeout(leaving);
  if (what === 'want') {
    port.postMessage({ type: 'state', state: source.state() } satisfies FromWorker);
    if (calls !== null) {
      const event: LiveEvent = { type: 'snapshot', data: { calls: [...calls.values()] } };
      port.postMessage({ type: 'event', event } satisfies FromWorker);
    }
  }
  if (what !== 'still') source.open();
}

self.onconnect = ({ ports: [port] }) => {
  if (port === undefined) return;
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => hear(port, data);
};

setInterval(() => {
  for (const [port, seenAt] of wanting) if (Date.now() - seenAt > GONE_MS) leave(port);
}, STILL_MS);
