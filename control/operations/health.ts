// Whether the process lives, whether it should be sent work, and its metrics: outside /v1, for whoever runs the daemon.
import { type Request, type RequestHandler, Router } from 'express';
import type { Registry } from 'prom-client';
import { AppError } from '../../errors.ts';
import { contextOf } from '../http/request-context.ts';

/** What is ready and what is not, by part; no secrets and no addresses. */
export interface Readiness {
  ok: boolean;
  checks: Record<string, unknown>;
}

/**
 * `/healthz` is open, `/readyz` says to everybody whether it is ready. What is not ready, and `/metrics`, are for this
 * machine, asked directly, and for who has an API key: the port is public, and behind a tunnel everybody comes from loopback.
 */
export function healthRoutes(o: {
  ready: () => Readiness;
  metrics: Registry;
  hasKey: (headers: { authorization?: string | undefined }) => Promise<boolean>;
  /** Answers a challenge of somebody who wants to know which daemon this is (instance.ts). */
  prove?: ((challenge: unknown) => string | null) | undefined;
  isLocalOperator: (req: Request) => boolean;
}): Router {
  const mayKnow = async (req: Request) => o.isLocalOperator(req) || (await o.hasKey(req.headers));
  const router = Router({ caseSensitive: true });
  const mark =
    (path: string): RequestHandler =>
    (_req, res, next) => {
      contextOf(res).route = path;
      next();
    };

  router.get('/healthz', mark('/healthz'), (req, res) => {
    const proof = o.prove?.(req.query.challenge) ?? null;
    res.json({ status: 'ok', ...(proof === null ? {} : { proof }) });
  });

  router.get('/readyz', mark('/readyz'), async (req, res) => {
    const { ok, checks } = o.ready();
    if (!ok) res.set('Retry-After', '5');
    const status = ok ? 'ready' : 'not_ready';
    res.status(ok ? 200 : 503).json((await mayKnow(req)) ? { status, checks } : { status });
  });

  router.get('/metrics', mark('/metrics'), async (req, res) => {
    if (!(await mayKnow(req))) {
      res.set('WWW-Authenticate', 'Bearer realm="offhook"');
      throw new AppError(
        'unauthorized',
        'From another machine, or where PUBLIC_URL is set, /metrics needs an API key: Authorization: Bearer sk_….',
      );
    }
    res.set('Content-Type', o.metrics.contentType);
    res.send(await o.metrics.metrics());
  });
  return router;
}
