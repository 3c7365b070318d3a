// The dashboard on the daemon's side, put together: its page and assets, and the API that its sessions use.
//
//   /dashboard/api: own page? ─► session, setup, login ─► signed in? its token? ─► keys, … ─► /v1 by the session ─► 404
import { type RequestHandler, Router } from 'express';
import { AppError } from '../../errors.ts';
import { readRanges } from '../egress/addresses.ts';
import { jsonBody } from '../http/json-body.ts';
import type { ControlParts } from '../http/parts.ts';
import { rateLimit } from '../http/rate-limit.ts';
import { hostRules } from '../http/request-arrival.ts';
import { contextOf } from '../http/request-context.ts';
import { type Route, serveRoutes } from '../http/route.ts';
import { accountRoutes } from './account-api.ts';
import { openAssets } from './assets.ts';
import { browserCallRoutes } from './browser-calls.ts';
import { callTotalsApi } from './call-totals.ts';
import { refuseOtherHosts, refuseOthersPages, requireSession } from './guard.ts';
import { invitationApi } from './invitations.ts';
import { keyRoutes } from './key-api.ts';
import { liveApi } from './live-api.ts';
import type { LiveFeed } from './live-feed.ts';
import { openOidc } from './oidc.ts';
import { overviewApi } from './overview-api.ts';
import { pageRoutes } from './pages.ts';
import { peopleRoutes } from './people-api.ts';
import { recordingApi } from './recording-api.ts';
import { sessionApi } from './session-api.ts';
import { openSessions } from './sessions.ts';
import { openSignIn } from './sign-in.ts';

export interface DashboardOptions extends ControlParts {
  /** Every route of /v1: a session may use them all. */
  routes: readonly Route[];
  publicUrl: string;
  dataDir: string;
  version: string;
  /** Calls that are on now; the bridge tells it. */
  feed: LiveFeed;
  /** For tests: how often a live stream is spoken on, and how much may wait for its reader. */
  heartbeatMs?: number;
  maxWaitingBytes?: number;
}

export interface Dashboard {
  /** For createApp's `pages`. */
  pages: Router;
  /** What people do here and programs do not; each says what it needs, as those of /v1. */
  routes: readonly Route[];
  /** Makes the page's files ahead of the first visit. */
  prepare(): void;
  /** Ends what is open. Safe to call twice. */
  close(): Promise<void>;
}

/** A daemon that starts has more urgent things to do. */
const PREPARE_AFTER_MS = 2_000;

/** Opens the dashboard. */
export function openDashboard(o: DashboardOptions): Dashboard {
  const sessions = openSessions(o);
  const trustsProxy = readRanges('TRUSTED_PROXIES', o.config.TRUSTED_PROXIES);
  const signIn = openSignIn({ ...o, sessions, trustsProxy });
  const oidc = openOidc({ ...o, signIn });
  const { open, own } = sessionApi({ ...o, sessions, trustsProxy, signIn, oidc });

  const api = Router({ caseSensitive: true });
  api.use(mark, refuseOthersPages(o.publicUrl));
  const limit = rateLimit({
    perSecond: o.config.RATE_LIMIT_PER_SECOND,
    burst: o.config.RATE_LIMIT_BURST,
    monotonicMs: o.monotonicMs,
  });
  // As for a key: all of an operator's browsers together.
  api.use(
    open,
    invitationApi({ ...o, signIn, oidc }),
    requireSession(sessions),
    limit.byKey,
    jsonBody({ leavesCsv: true }),
  );
  const live = liveApi({ ...o, sessions });
  api.use(own, live.router, overviewApi(o), recordingApi(o), callTotalsApi(o));
  const routes = [
    ...browserCallRoutes,
    ...keyRoutes,
    ...accountRoutes({ ...o, sessions, signIn }),
    ...peopleRoutes({ ...o, sessions }),
  ];
  api.use(serveRoutes(routes, o, '/dashboard/api'));
  api.use('/v1', serveRoutes(o.routes, o, '/v1'));
  api.use(nothingHere);

  const pages = Router({ caseSensitive: true });
  pages.use(refuseOtherHosts(hostRules(o.config)));
  if (oidc !== null) {
    // Before what refuses others' pages: the issuer's redirect is one. It brings what only this browser was given.
    pages.use(oidc.callbackPath, oidc.callback);
    open.get('/oidc/start', oidc.start);
  }
  pages.use('/dashboard/api', api);
  const assets = openAssets(o.config.DASHBOARD_RELOAD);
  let stopPreparing = () => {};
  pages.use(pageRoutes(assets));
  return {
    pages,
    routes,
    prepare() {
      stopPreparing = assets.prepare(PREPARE_AFTER_MS);
    },
    async close() {
      stopPreparing();
      live.close();
    },
  };
}

const nothingHere: RequestHandler = () => {
  throw new AppError('not_found', 'There is nothing at this path of the dashboard.');
};

/** Metrics have a label for each of these; other paths are the client's to invent and share one. */
const KNOWN =
  /^\/(session|setup|login|logout|password|invitation|invitations|account|people|keys|live|overview|health|recordings|oidc|call_totals|browser_calls)(?=\/|$)/;

const mark: RequestHandler = (req, res, next) => {
  contextOf(res).route = `/dashboard/api${KNOWN.exec(req.path)?.[0] ?? ''}`;
  next();
};
