// Whether the process lives, whether it should be sent work, and its metrics: outside /v1, for whoever runs the daemon.
import { type RequestHandler, Router } from 'express';
import type { Registry } from 'prom-client';
import { AppError } from '../errors.ts';
import { contextOf } from './request-context.ts';

/** What is ready and what is not, by part; shown to anybody who asks, so no secrets and no addresses. */
export interface Readiness {
  ok: boolean;
  checks: Record<string, unknown>;
}

const PROXY_HEADERS = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-real-ip',
  'cf-connecting-ip',
  'via',
];

/**
 * `/healthz` and `/readyz` are open. `/metrics` is open to this machine only, asked directly: the port is public, and
 * behind a tunnel everybody comes from loopback. Elsewhere it takes an API key.
 */
export function healthRoutes(o: {
  ready: () => Readiness;
  metrics: Registry;
  hasKey: (headers: { authorization?: string | undefined }) => Promise<boolean>;
  /** Answers a challenge of somebody who wants to know which daemon this is (instance.ts). */
  prove?: ((challenge: unknown) => string | null) | undefined;
}): Router {
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

  router.get('/readyz', mark('/readyz'), (_req, res) => {
    const { ok, checks } = o.ready();
    if (!ok) res.set('Retry-After', '5');
    res.status(ok ? 200 : 503).json({ status: ok ? 'ready' : 'not_ready', checks });
  });

  router.get('/metrics', mark('/metrics'), async (req, res) => {
    const proxied = PROXY_HEADERS.some((name) => req.headers[name] !== undefined);
    const local = /^(127\.|::1$|::ffff:127\.)/.test(req.socket.remoteAddress ?? '');
    if ((proxied || !local) && !(await o.hasKey(req.headers))) {
      res.set('WWW-Authenticate', 'Bearer realm="offhook"');
      throw new AppError(
        'unauthorized',
        'From another machine, /metrics needs an API key: Authorization: Bearer sk_….',
      );
    }
    res.set('Content-Type', o.metrics.contentType);
    res.send(await o.metrics.metrics());
  });
  return router;
}
