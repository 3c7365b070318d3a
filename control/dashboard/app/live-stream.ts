// The live stream as pages see it: one for the whole browser while someone is signed in and this tab can be seen.
import { computed, effect, signal } from '@preact/signals';
import { type LiveLink, openLiveLink } from './live-link.ts';
import type { StreamState } from './live-source.ts';
import { fold, type LiveEvent, type LiveState } from './live-state.ts';
import { session } from './session.ts';

/** Undefined until the first snapshot came. */
export const liveCalls = signal<LiveState | undefined>(undefined);
export const liveCount = computed(() => liveCalls.value?.size ?? 0);
export const stream = signal<StreamState>({ state: 'connecting' });

const listeners = new Set<(event: LiveEvent) => void>();

/** Hears every event of the stream. Answers how to stop. */
export function onLive(hear: (event: LiveEvent) => void): () => void {
  listeners.add(hear);
  return () => listeners.delete(hear);
}

/** Hears when calls have changed: as it is told, and after a time in which nothing was. Answers how to stop. */
export function onCallsChanged(hear: () => void): () => void {
  // The snapshot that the stream begins with is no news to a page that is loading anyway.
  let begins = stream.peek().state !== 'open';
  return onLive(({ type }) => {
    if (type === 'snapshot' && begins) begins = false;
    else if (type === 'call' || type === 'ended' || type === 'snapshot') hear();
  });
}

let link: LiveLink | null = null;

/** Tries at once. */
export function reconnect(): void {
  link?.now();
}

/** Opens the stream whenever someone is signed in and looks at this tab, closes it when not. Once. */
export function startLive(onSignedOut: () => void): void {
  const mine = openLiveLink({
    event(event) {
      liveCalls.value = fold(liveCalls.peek() ?? new Map(), event);
      for (const hear of listeners) hear(event);
    },
    state(now) {
      stream.value = now;
    },
    signedOut: onSignedOut,
  });
  link = mine;
  const visible = signal(document.visibilityState === 'visible');
  document.addEventListener('visibilitychange', () => {
    visible.value = document.visibilityState === 'visible';
  });
  // A page that the browser had put aside as it was comes back with its stream dropped.
  addEventListener('pageshow', (event) => {
    if (event.persisted && wanted.peek()) mine.want();
  });
  addEventListener('online', () => {
    if (stream.peek().state === 'lost') mine.now();
  });
  const signedIn = computed(() => session.value?.state === 'signed_in');
  const wanted = computed(() => signedIn.value && visible.value);
  effect(() => {
    if (!signedIn.value) liveCalls.value = undefined;
  });
  effect(() => {
    if (wanted.value) return mine.want();
    mine.drop();
    stream.value = { state: 'connecting' };
  });
}
