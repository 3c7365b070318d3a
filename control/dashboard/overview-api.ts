// `GET overview` and `GET health`: how the line did, and how it stands.
import { Router } from 'express';
import { z } from 'zod';
import type { SpeechModels } from '../../bridge/calls/call-plan.ts';
import type { Config } from '../../config.ts';
import type { Store } from '../../storage/store.ts';
import type { LineHealth } from '../health/line-health.ts';
import { parse } from '../http/schemas.ts';
import type { Range, Overview as Shown } from './app/session-shapes.ts';
import { fresh } from './fresh.ts';
import { sessionOf } from './guard.ts';
import type { LiveFeed } from './live-feed.ts';
import { type Overview, overviewOf, RANGES, spanOf } from './overview.ts';
import { peersOf } from './peers.ts';

const NAMES = Object.keys(RANGES) as [Range, ...Range[]];
const query = z.strictObject({ range: z.enum(NAMES, `must be one of ${NAMES.join(', ')}`).default('24h') });

export function overviewApi(o: {
  store: Pick<Store, 'callHours' | 'failureReasons' | 'answerLatencies'>;
  feed: Pick<LiveFeed, 'calls'>;
  health: Pick<LineHealth, 'of'>;
  config: Config;
  models: SpeechModels;
  now: () => Date;
}): Router {
  async function read(orgId: string, range: Range): Promise<Overview> {
    const nowMs = o.now().getTime();
    const { fromMs, toMs } = spanOf(range, nowMs);
    const span = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()] as const;
    const [hours, failures, latencies] = await Promise.all([
      o.store.callHours(orgId, ...span),
      o.store.failureReasons(orgId, ...span),
      o.store.answerLatencies(orgId, ...span, RANGES[range].hours),
    ]);
    return overviewOf({ range, nowMs, live: 0, hours, failures, latencies });
  }

  const overviews = fresh((key) => {
    const [orgId = '', range = '24h'] = key.split(' ');
    return read(orgId, range as Range);
  }, o.now);

  const peers = peersOf(o.config, o.models);
  const router = Router({ caseSensitive: true });
  router.get('/overview', async (req, res) => {
    const { range } = parse(query, req.query);
    const { orgId } = sessionOf(res);
    const overview = await overviews.of(`${orgId} ${range}`);
    res.json({
      ...overview,
      measured_against: peers,
      totals: { ...overview.totals, live: o.feed.calls(orgId).length },
    } satisfies Shown);
  });
  router.get('/health', async (_req, res) => {
    res.json(await o.health.of(sessionOf(res).orgId));
  });
  return router;
}
