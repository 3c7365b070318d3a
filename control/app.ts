// The HTTP application of the control plane, put together in the order a request passes:
//
//   id, security headers, measuring -> carrier hooks -> health -> /v1: key -> rate -> JSON body -> route -> 404 -> errors
//
// What each stage does is in its own file; who listens is main's affair (http-server.ts).
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { Registry } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import { hooksPath } from '../bridge/carriers/registry.ts';
import type { Client } from '../bridge/connection-limits.ts';
import { systemClock } from '../clock.ts';
import { AppError, CallElsewhere } from '../errors.ts';
import { ROUTES } from './api/routes.ts';
import { readRanges } from './egress/addresses.ts';
import { authenticate, findRequestKey } from './http/auth.ts';
import { handleError, toAppError } from './http/error-answer.ts';
import { jsonBody } from './http/json-body.ts';
import type { ControlParts } from './http/parts.ts';
import { rateLimit } from './http/rate-limit.ts';
import { arrivalOf, hostRules } from './http/request-arrival.ts';
import { contextOf, type RequestContext } from './http/request-context.ts';
import { clientOf, isLocalOperator } from './http/request-origin.ts';
import { serveRoutes } from './http/route.ts';
import { healthRoutes, type Readiness } from './operations/health.ts';
import { observeHttp, watchDaemon } from './operations/metrics.ts';
import { referenceRoutes } from './reference/reference.ts';

const QUIET_ROUTES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics', '/assets']);

export interface AppParts extends Omit<ControlParts, 'now' | 'monotonicMs'> {
  now?: () => Date;
  monotonicMs?: () => number;
  /** Of the program, for the reference. */
  version?: string;
  /** Pages for people, mounted at / after everything else; they set their own Content-Security-Policy. */
  pages?: Router;
  ready: () => Readiness;
  /** Which daemon this is, to whoever can read its folder. */
  prove?: (challenge: unknown) => string | null;
  /** Has another daemon answer a hook about its call; false: it does not answer. */
  passHook?: (request: Request, response: Response, callId: string) => Promise<boolean>;
  /** Of this app alone: its metrics are registered here. */
  metrics: Registry;
}

/** The application; it opens nothing, so there is nothing to close. */
export function createApp(o: AppParts): Express {
  const now = o.now ?? systemClock.now;
  const monotonicMs = o.monotonicMs ?? systemClock.monotonicMs;
  const parts: ControlParts = { ...o, now, monotonicMs };
  const trustsProxy = readRanges('TRUSTED_PROXIES', o.config.TRUSTED_PROXIES);
  const clientOfRequest = (req: Request) => clientOf(arrivalOf(req), trustsProxy);
  const addressOf = (req: Request) => clientOfRequest(req).address;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('env', 'production');
  app.enable('case sensitive routing');

  watchDaemon(o.metrics, o);
  const hooks = new Map<string, Router>();
  for (const carrier of o.carriers.all) {
    if (carrier.hooks !== null) hooks.set(hooksPath(carrier.name), carrier.hooks);
  }
  app.use(begin(o, hooks, clientOfRequest), securityHeaders, observeHttp(o.metrics));
  // They read their own bodies.
  for (const [path, router] of hooks) {
    app.use(path, (_req, res, next) => markRoute(path, next, contextOf(res)), router);
    app.use(path, passElsewhere(o));
  }
  app.use(
    healthRoutes({
      ready: o.ready,
      prove: o.prove,
      metrics: o.metrics,
      hasKey: async (headers) => (await findRequestKey(o.store, { headers }, now())) !== null,
      isLocalOperator: (req) => isLocalOperator(arrivalOf(req), hostRules(o.config)),
    }),
  );

  const limit = rateLimit({
    perSecond: o.config.RATE_LIMIT_PER_SECOND,
    burst: o.config.RATE_LIMIT_BURST,
    monotonicMs,
  });
  const reference = referenceRoutes({
    routes: ROUTES,
    version: o.version ?? '0',
    count: (req, res, next) => {
      limit.byAddress(addressOf(req), res);
      next();
    },
  });
  const v1 = Router({ caseSensitive: true });
  // The one thing of /v1 that asks for no key.
  v1.use(reference.document);
  v1.use(
    authenticate({ store: o.store, limit, addressOf, log: o.log, now }),
    limit.byKey,
    jsonBody({ leavesCsv: true }),
  );
  v1.use(serveRoutes(ROUTES, parts, '/v1'));
  v1.use(nothingHere);
  app.use('/v1', v1);
  app.use(reference.page);

  if (o.pages) app.use(o.pages);
  app.use(nothingHere);
  app.use(handleError);
  return app;
}

const nothingHere: RequestHandler = () => {
  // The path is not repeated: it may hold what belongs in no answer and no log.
  throw new AppError(
    'not_found',
    'There is nothing at this path. The API begins at /v1, and /docs describes it.',
  );
};

/** A hook about a call of another daemon's goes to that. */
const passElsewhere =
  ({ passHook }: Pick<AppParts, 'passHook'>): ErrorRequestHandler =>
  (thrown, req, res, next) => {
    if (!(thrown instanceof CallElsewhere) || passHook === undefined) return next(thrown);
    passHook(req, res, thrown.callId).then((passed) => passed || next(thrown), next);
  };

function markRoute(path: string, next: () => void, context: RequestContext): void {
  context.route = path;
  next();
}

/** Gives the request its id and, when it is over, its one line in the log; a stranger's, as long as there are few. */
function begin(
  { log, strangers }: Pick<AppParts, 'log' | 'strangers'>,
  hooks: ReadonlyMap<string, Router>,
  clientOfRequest: (req: Request) => Client,
): RequestHandler {
  return (req, res, next) => {
    const context: RequestContext = {
      requestId: uuidv7(),
      route: null,
      orgId: null,
      keyId: null,
      actor: null,
      address: null,
      isStillGood: async () => true,
      error: null,
    };
    Object.assign(res.locals, context);
    res.set('X-Request-Id', context.requestId);
    const begun = performance.now();
    // While its socket still knows where it comes from.
    const by = clientOfRequest(req);
    contextOf(res).address = by.address;
    res.once('close', () => {
      const { requestId, route, orgId, keyId, error } = contextOf(res);
      // Probes and scrapes come every few seconds, a page's files by the dozen; they tell nothing when they are well.
      if (error === null && route !== null && QUIET_ROUTES.has(route)) return;
      const line = {
        request_id: requestId,
        method: req.method,
        // Never the path as asked: it may hold what belongs in no log.
        route,
        status: res.statusCode,
        ms: Math.round(performance.now() - begun),
        ...(res.writableFinished ? {} : { aborted: true }),
        ...(orgId === null ? {} : { org_id: orgId, key_id: keyId }),
      };
      // A hook is answered well only with the carrier's signature.
      const isKnown = orgId !== null || (route !== null && hooks.has(route) && res.statusCode < 400);
      const tell = (level: 'info' | 'warn' | 'error', event: string, more: Record<string, unknown> = {}) => {
        const fields = { ...line, ...more };
        if (isKnown) return log[level](fields, event);
        strangers.saw({ event, why: String(more.code ?? res.statusCode), level, fields, by });
      };
      if (error === null) return tell('info', 'http.request');
      const answered = toAppError(error);
      const { code, param } = answered;
      if (code === 'internal') return tell('error', 'http.failed', { code, err: error });
      if (answered.status >= 500) return tell('warn', 'http.request', { code, err: error });
      tell('info', 'http.request', { code, param });
    });
    next();
  };
}

const securityHeaders: RequestHandler = (_req, res, next) => {
  res.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
  next();
};
