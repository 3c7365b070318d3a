// `GET live`: what happens on calls, as server-sent events. A reader that falls behind is cut off and comes back to a fresh
// snapshot, so that no backlog grows here; a stream ends with the session it belongs to.
import { type Response, Router } from 'express';
import { AppError } from '../../errors.ts';
import { sessionOf } from './guard.ts';
import type { Hear, LiveFeed } from './live-feed.ts';
import type { Sessions, SignedIn } from './sessions.ts';

const HEARTBEAT_MS = 15_000;
/** What may wait to be sent to one reader. */
const MAX_WAITING_BYTES = 256 * 1024;
const MAX_READERS = 50;
/** How long a browser waits before it comes back. */
const RETRY_MS = 2_000;

interface Reader {
  hash: string;
  userId: string;
  end(): void;
}

export interface LiveApi {
  router: Router;
  /** Ends every stream. */
  close(): void;
}

/** For signed-in browsers, each its own organization's calls. @param o.heartbeatMs also how soon a session that is over is noticed */
export function liveApi(o: {
  feed: LiveFeed;
  sessions: Sessions;
  heartbeatMs?: number;
  maxWaitingBytes?: number;
}): LiveApi {
  const readers = new Set<Reader>();
  const { sessions, feed } = o;
  const maxWaiting = o.maxWaitingBytes ?? MAX_WAITING_BYTES;
  let closed = false;

  sessions.onEnd((ended) => {
    for (const reader of [...readers]) {
      if ('hash' in ended ? reader.hash === ended.hash : reader.userId === ended.userId) reader.end();
    }
  });

  function stream(res: Response, session: SignedIn): void {
    const write = (text: string) => {
      // What waits already decides: a snapshot may be longer than that by itself.
      if (res.writableLength > maxWaiting) res.destroy();
      else res.write(text);
    };
    const say: Hear = (event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

    const beat = async () => {
      write(': \n\n');
      if (!(await sessions.goesOn(session.hash))) reader.end();
    };
    const timer = setInterval(() => {
      // Storage that fails for a moment ends no view; the next beat asks again.
      beat().catch(() => {});
    }, o.heartbeatMs ?? HEARTBEAT_MS).unref();
    const leave = feed.follow(session.orgId, say);
    const forget = () => {
      clearInterval(timer);
      leave();
      readers.delete(reader);
    };
    const reader: Reader = {
      hash: session.hash,
      userId: session.user.id,
      end() {
        // At once, not when the socket has closed: what is written after the end is an error that nobody catches.
        forget();
        if (res.writableLength > 0) res.destroy();
        else res.end();
      },
    };
    readers.add(reader);
    res.once('close', forget);

    res.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store, no-transform',
      // nginx would hold the events back.
      'X-Accel-Buffering': 'no',
    });
    write(`retry: ${RETRY_MS}\n\n`);
    say('snapshot', { calls: feed.calls(session.orgId) });
  }

  const router = Router({ caseSensitive: true });
  router.get('/live', (_req, res) => {
    if (closed) throw new AppError('draining', 'The daemon is shutting down.');
    if (readers.size >= MAX_READERS) {
      throw new AppError('rate_limited', `${MAX_READERS} live views are open; close one.`, {
        retryAfterSeconds: 30,
      });
    }
    stream(res, sessionOf(res));
  });
  return {
    router,
    close() {
      closed = true;
      for (const reader of [...readers]) reader.end();
    },
  };
}
