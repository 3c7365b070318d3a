// The REST API: authentication, injected faults, error bodies, and the routes of calls and numbers.
// https://www.twilio.com/docs/usage/twilios-request-and-responses
import express, { type Request, type Response, type Router } from 'express';
import type { Exchange } from './call.ts';
import { rfc2822 } from './form.ts';
import type { Answer } from './rest-answer.ts';
import { callRoutes } from './rest-calls.ts';
import { RestError } from './rest-errors.ts';
import { numberRoutes, pricingRoutes } from './rest-numbers.ts';
import type { World } from './world.ts';

export function restRoutes(world: Exchange): Router {
  const router = express.Router();
  const { options } = world;
  const createdAt = Date.now();
  router.use(express.urlencoded({ extended: false, limit: '256kb' }));

  router.use((request, response, next) => {
    void faulty(world, request, response).then((handled) => {
      if (!handled) next();
    });
  });
  router.use((request, _response, next) => {
    if (!isAuthentic(world, request)) throw new RestError(20003, 'Authenticate');
    next();
  });

  const answer: Answer = (response, status, body) => {
    const strike = { method: response.req.method, path: response.req.originalUrl };
    // The work is done; the answer is lost on the way.
    if (world.faults.take('lose_response', strike)) {
      response.req.socket.destroy();
      return;
    }
    response.setHeader('twilio-request-id', `RQ${Math.random().toString(16).slice(2).padEnd(32, '0')}`);
    if (body === null) response.status(status).end();
    else response.status(status).json(body);
  };

  const account = `/2010-04-01/Accounts/${options.accountSid}`;
  router.get(`${account}.json`, (_request, response) => {
    answer(response, 200, {
      sid: options.accountSid,
      friendly_name: 'Simulated account',
      status: 'active',
      type: options.trial ? 'Trial' : 'Full',
      owner_account_sid: options.accountSid,
      date_created: rfc2822(createdAt),
      date_updated: rfc2822(createdAt),
      uri: `${account}.json`,
    });
  });
  router.use(account, callRoutes(world, answer));
  router.use(account, numberRoutes(world, answer));
  // The same under a prefix, for clients that put every product behind one base URL.
  router.use(['/v1', '/pricing/v1'], pricingRoutes(answer, 1));
  router.use(['/v2', '/pricing/v2'], pricingRoutes(answer, 2));
  return router;
}

/** Does what was injected before the work. Answers whether the request is finished with. */
async function faulty(world: World, request: Request, response: Response): Promise<boolean> {
  const strike = { method: request.method, path: request.originalUrl };
  const latency = world.faults.take('latency', strike);
  if (latency) {
    const ms = world.nextRandom().between(latency.ms ?? [50, 800]);
    await new Promise<void>((resolve) => world.after(ms, resolve));
  }
  if (world.faults.take('drop_connection', strike)) {
    request.socket.destroy();
    return true;
  }
  const fault = world.faults.take('status', strike);
  if (!fault) return false;
  const status = fault.status ?? 429;
  const code = fault.code ?? (status === 429 ? 20429 : status === 503 ? 20503 : 20500);
  if (status === 429) response.setHeader('retry-after', '1');
  response.status(status).json(new RestError(code, fault.message ?? `injected: ${status}`, status).body());
  return true;
}

function isAuthentic(world: World, request: Request): boolean {
  const { accountSid, authToken, apiKeys } = world.options;
  const header = /^Basic (.+)$/i.exec(request.headers.authorization ?? '');
  if (!header) return false;
  const [user, ...rest] = Buffer.from(header[1]!, 'base64').toString('utf8').split(':');
  const secret = rest.join(':');
  return user === accountSid ? secret === authToken : apiKeys[user ?? ''] === secret && secret !== '';
}
