// `GET overview` and `GET health`: how the line did, and how it stands.
import { Router } from 'express';
import { z } from 'zod';
import type { SpeechModels } from '../../bridge/calls/call-plan.ts';
import type { Config } from '../../config.ts';
import type { Store } from '../../storage/store.ts';
import { parse } from '../http/schemas.ts';
import type { Range, Overview as Shown } from './app/session-shapes.ts';
import { fresh } from './fresh.ts';
import { sessionOf } from './guard.ts';
import { callsHealth, type Health, type LateCalls } from './health.ts';
import type { LiveFeed } from './live-feed.ts';
import { type Overview, overviewOf, RANGES, spanOf } from './overview.ts';
import { peersOf } from './peers.ts';

const HOUR_MS = 3_600_000;
const NAMES = Object.keys(RANGES) as [Range, ...Range[]];
const query = z.strictObject({ range: z.enum(NAMES, `must be one of ${NAMES.join(', ')}`).default('24h') });

export function overviewApi(o: {
  store: Pick<Store, 'callHours' | 'failureReasons' | 'answerLatencies'>;
  feed: Pick<LiveFeed, 'calls'>;
  health: Health;
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

  /** Of this hour and the one before. */
  async function readLate(orgId: string): Promise<LateCalls> {
    const hour = Math.floor(o.now().getTime() / HOUR_MS);
    const from = new Date((hour - 1) * HOUR_MS).toISOString();
    const to = new Date((hour + 1) * HOUR_MS).toISOString();
    const [hours, reasons] = await Promise.all([
      o.store.callHours(orgId, from, to),
      o.store.failureReasons(orgId, from, to),
    ]);
    const sum = (key: 'ended' | 'failed') => hours.reduce((all, one) => all + one[key], 0);
    return { since: `${from.slice(11, 16)} UTC`, ended: sum('ended'), failed: sum('failed'), reasons };
  }

  const overviews = fresh((key) => {
    const [orgId = '', range = '24h'] = key.split(' ');
    return read(orgId, range as Range);
  }, o.now);
  const lateCalls = fresh(readLate, o.now);

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
    const { orgId } = sessionOf(res);
    const [calls, parts] = await Promise.all([lateCalls.of(orgId), o.health.read()]);
    res.json({ calls: callsHealth(calls), ...parts });
  });
  return router;
}
