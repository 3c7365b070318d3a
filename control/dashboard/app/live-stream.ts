// The live stream: one for the whole dashboard while someone is signed in. Connects again by itself and says when it is lost.
import { computed, effect, signal } from '@preact/signals';
import { fold, type LiveEvent, type LiveState } from './live-state.ts';
import { session } from './session.ts';
import type { LiveEvents } from './session-shapes.ts';

const NAMES = ['snapshot', 'call', 'floor', 'words', 'turn', 'ended'] as const;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

/** Undefined until the first snapshot came. */
export const liveCalls = signal<LiveState | undefined>(undefined);
export const liveCount = computed(() => liveCalls.value?.size ?? 0);
/** `lost`: what is shown may be old; when it was lost, and when the next attempt is due. */
export const stream = signal<
  { state: 'connecting' | 'open' } | { state: 'lost'; sinceMs: number; retryAtMs: number }
>({ state: 'connecting' });

const listeners = new Set<(event: LiveEvent) => void>();

/** Hears every event of the stream. Answers how to stop. */
export function onLive(hear: (event: LiveEvent) => void): () => void {
  listeners.add(hear);
  return () => listeners.delete(hear);
}

let source: EventSource | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let waitMs = FIRST_WAIT_MS;

function open(): void {
  clearTimeout(timer);
  source?.close();
  const mine = new EventSource('/dashboard/api/live');
  source = mine;
  mine.onopen = () => {
    waitMs = FIRST_WAIT_MS;
    stream.value = { state: 'open' };
  };
  // The browser's own repeat gives up at the first answer that is no stream, as after a restart behind a proxy.
  mine.onerror = () => {
    if (mine !== source) return;
    mine.close();
    const nowMs = Date.now();
    const since = stream.peek();
    stream.value = {
      state: 'lost',
      sinceMs: since.state === 'lost' ? since.sinceMs : nowMs,
      retryAtMs: nowMs + waitMs,
    };
    timer = setTimeout(retry, waitMs);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  };
  for (const name of NAMES) {
    mine.addEventListener(name, (message) => {
      const data = JSON.parse((message as MessageEvent<string>).data) as LiveEvents[typeof name];
      const event = { type: name, data } as LiveEvent;
      liveCalls.value = fold(liveCalls.peek() ?? new Map(), event);
      for (const hear of listeners) hear(event);
    });
  }
}

/** An EventSource does not say why it failed: a session that has ended is no lost line. */
async function retry(): Promise<void> {
  const answer = await fetch('/dashboard/api/session').catch(() => null);
  if (answer?.ok === true && ((await answer.json()) as { state: string }).state !== 'signed_in') {
    signedOut();
    return;
  }
  if (session.peek()?.state === 'signed_in') open();
}

/** Tries at once. */
export function reconnect(): void {
  waitMs = FIRST_WAIT_MS;
  open();
}

function close(): void {
  clearTimeout(timer);
  source?.close();
  source = null;
  liveCalls.value = undefined;
  stream.value = { state: 'connecting' };
}

let signedOut: () => void = () => {};

/** Opens the stream whenever someone is signed in, closes it when not. Once. */
export function startLive(onSignedOut: () => void): void {
  signedOut = onSignedOut;
  const signedIn = computed(() => session.value?.state === 'signed_in');
  effect(() => {
    if (signedIn.value) open();
    else close();
  });
  addEventListener('online', () => {
    if (stream.peek().state === 'lost') reconnect();
  });
}
