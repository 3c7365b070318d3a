// Who may pass to the dashboard's API: nobody's page but ours, nobody without a session, and no change without its token.
import { timingSafeEqual } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import { AppError } from '../../errors.ts';
import { permissionsOf } from '../http/actor.ts';
import { arrivalOf } from '../http/request-arrival.ts';
import { contextOf } from '../http/request-context.ts';
import { fromOtherSite, fromOwnPage, type HostRules, isOwnHost } from '../http/request-origin.ts';
import type { Sessions, SignedIn } from './sessions.ts';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Under a name that is not ours nothing is shown, and nobody signs in. */
export function refuseOtherHosts(rules: HostRules): RequestHandler {
  return (req, _res, next) => {
    if (isOwnHost(arrivalOf(req), rules)) return next();
    const own = rules.publicUrl === null ? '' : ` Open it at ${rules.publicUrl}.`;
    throw new AppError(
      'forbidden',
      `The dashboard does not answer to this host name.${own} Another name that reaches it is to be set in ALLOWED_HOSTS.`,
    );
  };
}

/** Another site's page gets nothing, whatever it asks; a change must come from our own page, signed in or not. */
export function refuseOthersPages(publicUrl: string): RequestHandler {
  return (req, _res, next) => {
    const arrival = arrivalOf(req);
    const own = READS.has(req.method) ? !fromOtherSite(arrival) : fromOwnPage(arrival, publicUrl);
    if (!own) {
      throw new AppError(
        'forbidden',
        'This request did not come from the dashboard itself. Programs use /v1 with an API key.',
      );
    }
    next();
  };
}

/** The session of a request behind `requireSession`. */
export function sessionOf(res: Response): SignedIn {
  return (res.locals as { session: SignedIn }).session;
}

/** Lets signed-in browsers through, and their changes only with the session's token. */
export function requireSession(sessions: Sessions): RequestHandler {
  return async (req, res, next) => {
    const session = await sessions.find(arrivalOf(req));
    if (session === null) throw new AppError('unauthorized', 'You are signed out; sign in again.');
    if (!READS.has(req.method)) {
      const given = Buffer.from(req.get('Offhook-CSRF') ?? '');
      const wanted = Buffer.from(session.csrfToken);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
        throw new AppError('forbidden', 'This page is out of date; load it again.');
      }
    }
    (res.locals as { session?: SignedIn }).session = session;
    const context = contextOf(res);
    context.orgId = session.orgId;
    const { user } = session;
    context.keyId = user.id;
    context.actor = { kind: 'user', id: user.id, name: user.name, may: permissionsOf(user) };
    context.isStillGood = () => sessions.goesOn(session.hash);
    next();
  };
}
