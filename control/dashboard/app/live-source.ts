// One connection to the daemon's live stream: connects again by itself, says when it is lost, and notices the end of the
// session. Whoever holds it (live-worker.ts for all tabs, or a page for itself) decides when it is wanted.
import type { LiveEvent } from './live-state.ts';
import type { LiveEvents } from './session-shapes.ts';

/** `lost`: what is shown may be old; when it was lost, and when the next attempt is due. */
export type StreamState =
  | { state: 'connecting' | 'open' }
  | { state: 'lost'; sinceMs: number; retryAtMs: number };

export interface SourceListener {
  event(event: LiveEvent): void;
  state(state: StreamState): void;
  /** Nobody is signed in any more; nothing is tried again until `open`. */
  signedOut(): void;
}

export interface LiveSource {
  state(): StreamState;
  /** Connects, at once; what is open already stays so. */
  open(): void;
  close(): void;
}

const NAMES = ['snapshot', 'call', 'floor', 'words', 'turn', 'interruption', 'ended'] as const;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

/** Closed until it is opened. */
export function createLiveSource(listener: SourceListener): LiveSource {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waitMs = FIRST_WAIT_MS;
  let state: StreamState = { state: 'connecting' };
  /** Counts what was wanted, so that an answer that comes too late changes nothing. */
  let round = 0;

  function become(now: StreamState): void {
    state = now;
    listener.state(now);
  }

  function connect(): void {
    clearTimeout(timer);
    source?.close();
    const mine = new EventSource('/dashboard/api/live');
    source = mine;
    mine.onopen = () => {
      waitMs = FIRST_WAIT_MS;
      become({ state: 'open' });
    };
    // The browser's own repeat gives up at the first answer that is no stream, as after a restart behind a proxy.
    mine.onerror = () => {
      if (mine !== source) return;
      mine.close();
      const nowMs = Date.now();
      const asked = round;
      become({
        state: 'lost',
        sinceMs: state.state === 'lost' ? state.sinceMs : nowMs,
        retryAtMs: nowMs + waitMs,
      });
      timer = setTimeout(() => void retry(asked), waitMs);
      waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
    };
    for (const name of NAMES) {
      mine.addEventListener(name, (message) => {
        if (mine !== source) return;
        const data = JSON.parse((message as MessageEvent<string>).data) as LiveEvents[typeof name];
        listener.event({ type: name, data } as LiveEvent);
      });
    }
  }

  /** An EventSource does not say why it failed: a session that has ended is no lost line. */
  async function retry(asked: number): Promise<void> {
    const signedIn = await fetch('/dashboard/api/session')
      .then(async (answer) =>
        answer.ok ? ((await answer.json()) as { state: string }).state === 'signed_in' : true,
      )
      .catch(() => true);
    if (asked !== round) return;
    if (signedIn) connect();
    else {
      close();
      listener.signedOut();
    }
  }

  function close(): void {
    round++;
    clearTimeout(timer);
    source?.close();
    source = null;
    waitMs = FIRST_WAIT_MS;
    become({ state: 'connecting' });
  }

  return {
    state: () => state,
    open() {
      if (source !== null && state.state !== 'lost') return;
      round++;
      waitMs = FIRST_WAIT_MS;
      connect();
    },
    close,
  };
}
