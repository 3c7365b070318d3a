// `GET overview` and `GET health`: how the line did, and how it stands.
import { Router } from 'express';
import { z } from 'zod';
import type { Store } from '../../storage/store.ts';
import { parse } from '../schemas.ts';
import { sessionOf } from './guard.ts';
import type { Health } from './health.ts';
import type { LiveFeed } from './live-feed.ts';
import { type Overview, overviewOf, RANGES, type Range, spanOf } from './overview.ts';

/** Many views of the same numbers are one reading of them. */
const FRESH_MS = 5_000;
const NAMES = Object.keys(RANGES) as [Range, ...Range[]];
const query = z.strictObject({ range: z.enum(NAMES, `must be one of ${NAMES.join(', ')}`).default('24h') });

export function overviewApi(o: {
  store: Pick<Store, 'callHours' | 'failureReasons' | 'answerLatencies'>;
  feed: Pick<LiveFeed, 'calls'>;
  health: Health;
  now: () => Date;
}): Router {
  const kept = new Map<string, { at: number; overview: Promise<Overview> }>();

  async function read(orgId: string, range: Range): Promise<Overview> {
    const nowMs = o.now().getTime();
    const { fromMs, toMs } = spanOf(range, nowMs);
    const span = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()] as const;
    const [hours, failures, latencies] = await Promise.all([
      o.store.callHours(orgId, ...span),
      o.store.failureReasons(orgId, ...span),
      o.store.answerLatencies(orgId, ...span),
    ]);
    return overviewOf({ range, nowMs, live: 0, hours, failures, latencies });
  }

  const router = Router({ caseSensitive: true });
  router.get('/overview', async (req, res) => {
    const { range } = parse(query, req.query);
    const { orgId } = sessionOf(res);
    const key = `${orgId} ${range}`;
    const nowMs = o.now().getTime();
    let one = kept.get(key);
    if (one === undefined || nowMs - one.at >= FRESH_MS) {
      one = { at: nowMs, overview: read(orgId, range) };
      kept.set(key, one);
      one.overview.catch(() => kept.delete(key));
    }
    const overview = await one.overview;
    res.json({ ...overview, totals: { ...overview.totals, live: o.feed.calls(orgId).length } });
  });
  router.get('/health', async (_req, res) => {
    res.json(await o.health.read());
  });
  return router;
}
