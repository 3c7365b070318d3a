// Accepts connections before it works on requests. Node accepts one in a turn of its loop: where requests are worked on as they
// are read, a new connection waits for all that came before, and a media socket for the end of a burst of hooks.
import type { RequestListener, Server } from 'node:http';

/**
 * Accepting may take this long between two requests, or as long as the one before took: at least half the time is work. And
 * so many turns, where others take the loop's time.
 */
const LEAST_HOLD_MS = 5;
const LEAST_HOLD_TURNS = 10;

export interface RequestQueueOptions {
  /** How long each request waited for its work, in milliseconds. */
  waited?: (ms: number) => void;
  /** What a test puts in place of the process's own turns. */
  nextTurn?: (run: () => void) => void;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

interface Waiting {
  request: Parameters<RequestListener>[0];
  response: Parameters<RequestListener>[1];
  sinceMs: number;
}

/** Works on a server's requests in their order, one per turn of the loop, and on none in a turn in which somebody was let in. */
export function queueRequests(
  server: Pick<Server, 'on'>,
  work: RequestListener,
  o: RequestQueueOptions = {},
): void {
  const nextTurn = o.nextTurn ?? ((run) => void setImmediate(run));
  const now = o.now ?? (() => performance.now());
  const waiting: Waiting[] = [];
  let letIn = false;
  /** Since when nothing was worked on, and how long the last work held the loop. */
  let restingSince = 0;
  let workedMs = 0;
  let heldTurns = 0;

  function turn(): void {
    // Whoever has given up meanwhile takes nobody's time.
    while (waiting[0]?.request.destroyed || waiting[0]?.request.socket?.destroyed) waiting.shift();
    const isEarly = heldTurns < LEAST_HOLD_TURNS || now() - restingSince < Math.max(LEAST_HOLD_MS, workedMs);
    const hold = letIn && isEarly;
    letIn = false;
    heldTurns = hold ? heldTurns + 1 : 0;
    const next = hold ? undefined : waiting.shift();
    if (waiting.length > 0) nextTurn(turn);
    if (next === undefined) return;
    const began = now();
    o.waited?.(began - next.sinceMs);
    try {
      work(next.request, next.response);
    } finally {
      restingSince = now();
      workedMs = restingSince - began;
    }
  }

  server.on('connection', () => {
    letIn = true;
  });
  server.on('request', (request, response) => {
    waiting.push({ request, response, sinceMs: now() });
    if (waiting.length > 1) return;
    restingSince = now();
    workedMs = 0;
    nextTurn(turn);
  });
}
