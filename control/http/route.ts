// A route as data: method, path, schemas and handler in one place, so that serving it, refusing other methods, and the
// API reference all come from the same list. How a request passes through a route stands here; what it does, elsewhere.
import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { z } from 'zod';
import { AppError, type ErrorCode } from '../../errors.ts';
import { redact } from '../../log.ts';
import { type Actor, mustBeAllowed, type Permission, permissionFor } from './actor.ts';
import type { Answer } from './answer.ts';
import { noteAction, targetKind } from './audit.ts';
import { checkIdempotencyKey, once } from './idempotency.ts';
import { bodyBytes, isCsv } from './json-body.ts';
import type { ControlParts } from './parts.ts';
import { contextOf, type RequestContext } from './request-context.ts';
import { parse } from './schemas.ts';

type ParameterNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** A request as a handler sees it: everything parsed, the organization known. */
export interface RouteRequest<Path extends string, Query, Body> extends ControlParts {
  orgId: string;
  keyId: string;
  actor: Actor;
  /** UUIDs, in lower case. */
  params: Record<ParameterNames<Path>, string>;
  query: Query;
  body: Body;
  /** The `updated_at` that If-Match names; null without one. Only of routes with `ifMatch`. */
  ifUpdatedAt: string | null;
  /** Path and query as they were asked, for links. */
  url: string;
  /** The body of a route that takes a file, in pieces. @throws AppError body_too_large */
  file(): Promise<Buffer[]>;
  /** To be awaited before an effect that must not happen twice; names what will show whether it has happened. */
  intend(id: string): Promise<void>;
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

interface RouteDescription {
  method: Method;
  path: string;
  /** The operation's name in the reference, and so in what is generated from it. */
  operation: string;
  summary: string;
  /** What else there is to say of it, for the reference. */
  description?: string | undefined;
  /** What whoever asks must be allowed; reading for a GET, else operating, when it does not say. */
  needs?: Permission | undefined;
  /** Of a good answer. */
  status: number;
  /** Codes it may refuse with, besides those that its kind of request always has. */
  errors?: readonly ErrorCode[] | undefined;
  query?: z.ZodType | undefined;
  body?: z.ZodType | undefined;
  /** Its body is a file in CSV and no JSON: what it is, and how many bytes it may have. */
  takes?: { description: string; bytes: number } | undefined;
  /** Null: the answer has no body, or is no JSON. */
  answer: z.ZodType | null;
  /** Media type of a good answer that is no JSON. */
  media?: string | undefined;
  /** It can be had in ranges, and asked for when it has changed. */
  ranges?: true | undefined;
  /** Header the request needs besides the API key: its name, and what it is for. */
  header?: { name: string; description: string } | undefined;
  /** Takes an `If-Match` with the `updated_at` of what is changed; refused with `changed_meanwhile` when that is another. */
  ifMatch?: true | undefined;
  /**
   * Takes an `Idempotency-Key`. `failures`: whether a 5xx is what a repeat is answered too ('kept', where it may have had an
   * effect that must not happen twice), or the repeat tries again ('dropped').
   */
  once?: Once | undefined;
}

interface Once {
  failures: 'kept' | 'dropped';
  /** For a repeat of a request that never came to its answer: what came of the intended `id`, or null for nothing. */
  recover?: (parts: ControlParts & { orgId: string }, id: string) => Promise<Answer | null>;
}

export interface Route extends RouteDescription {
  handle(parts: ControlParts, req: Request, res: Response): Promise<void>;
}

interface RouteSpec<Path extends string, Q extends z.ZodType, B extends z.ZodType> extends RouteDescription {
  path: Path;
  query?: Q;
  body?: B;
  /** The body's schema when the body itself decides which one it is, with what to say of fields it does not take. */
  choose?: (body: Record<string, unknown>) => {
    schema: z.ZodType<z.output<B>>;
    hints: Record<string, string>;
  };
  /** Answers by value; null when it has written to `res` itself. */
  run(request: RouteRequest<Path, z.output<Q>, z.output<B>>, res: Response): Promise<Answer | null>;
}

const TAKES_CSV = 'Send the file as the body, as Content-Type: text/csv, in UTF-8.';
const TAKES_JSON = 'Send the body as Content-Type: application/json, in UTF-8.';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Makes a route; query and body types follow from its schemas. */
export function route<
  Path extends string,
  Q extends z.ZodType = z.ZodNever,
  B extends z.ZodType = z.ZodNever,
>(spec: RouteSpec<Path, Q, B>): Route {
  return {
    ...spec,
    async handle(parts, req, res) {
      const context = contextOf(res);
      if (context.orgId === null || context.keyId === null || context.actor === null)
        throw new AppError('unauthorized', 'Send an API key.');
      mustBeAllowed(context.actor, spec.needs ?? permissionFor(spec.method));
      if ((spec.takes !== undefined) !== isCsv(req))
        throw new AppError('unsupported_media_type', spec.takes ? TAKES_CSV : TAKES_JSON);
      const params = readParams(req.params);
      const query = spec.query ? parse(spec.query, req.query) : refuseAll(req.query, 'query parameters');
      const given = req.body as Record<string, unknown>;
      const chosen = spec.choose?.(given) ?? (spec.body ? { schema: spec.body, hints: {} } : null);
      const body = chosen ? parse(chosen.schema, given, chosen.hints) : refuseAll(given ?? {}, 'body');
      const request = {
        ...parts,
        orgId: context.orgId,
        keyId: context.keyId,
        actor: context.actor,
        params: params as Record<ParameterNames<Path>, string>,
        query: query as z.output<Q>,
        body: body as z.output<B>,
        ifUpdatedAt: spec.ifMatch === true ? readIfMatch(req.get('If-Match')) : null,
        url: req.originalUrl,
        file: () => bodyBytes(req, spec.takes?.bytes ?? 0),
      };
      const key = spec.once ? checkIdempotencyKey(req.get('Idempotency-Key')) : null;
      const run = async (intend: (id: string) => Promise<void>) => {
        const answer = await spec.run({ ...request, intend }, res);
        if (spec.method !== 'get') await note(spec, parts, request, answer, context);
        return answer;
      };
      const { recover } = spec.once ?? {};
      const answer =
        key === null || !spec.once
          ? await run(async () => {})
          : await once(
              {
                store: parts.store,
                log: parts.log,
                orgId: context.orgId,
                key,
                request: `${req.method} ${req.baseUrl}${req.path}\n${JSON.stringify(given)}`,
                now: parts.now(),
                requestId: context.requestId,
                failures: spec.once.failures,
                recover: async (id) => recover?.({ ...parts, orgId: request.orgId }, id) ?? null,
                status: spec.status,
                res,
              },
              run,
            );
      if (answer === null) return;
      for (const [name, value] of Object.entries(answer.headers ?? {})) res.set(name, value);
      res.status(spec.status);
      if (answer.body === undefined) res.end();
      else res.json(answer.body);
    },
  };
}

/** What was changed by it has happened: the row of it waits for nobody, but where it is about people, keys, money or rules. */
async function note(
  spec: RouteDescription,
  parts: ControlParts,
  request: { orgId: string; actor: Actor; params: Record<string, string> },
  answer: Answer | null,
  { requestId, address }: Pick<RequestContext, 'requestId' | 'address'>,
): Promise<void> {
  const made = (answer?.body as { id?: unknown } | undefined)?.id;
  const id = answer?.noted?.targetId ?? request.params.id ?? (typeof made === 'string' ? made : null);
  const noted = noteAction(
    parts,
    {
      orgId: request.orgId,
      actor: request.actor,
      action: spec.operation,
      target: { kind: targetKind(spec.path), id },
      detail: answer?.noted?.detail,
      address,
      requestId,
    },
    { patient: spec.needs !== 'admin' },
  );
  if (spec.needs === 'admin') await noted;
}

function readParams(given: Request['params']): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const text = String(value).toLowerCase();
    if (!UUID.test(text))
      throw new AppError('not_found', 'Nothing has this id: ids are UUIDs, as lists show them.');
    params[name] = text;
  }
  return params;
}

/** RFC 9110, 13.1.1; a proxy may have made the tag weak. `*` asks for nothing but that it is there. */
function readIfMatch(header: string | undefined): string | null {
  if (header === undefined || header.trim() === '*') return null;
  const tag = /^\s*(?:W\/)?"([^"]+)"\s*$/.exec(header)?.[1];
  if (tag === undefined) {
    throw new AppError(
      'invalid_request',
      'If-Match takes one updated_at in double quotes, as ETag and the body show it.',
      { param: 'If-Match' },
    );
  }
  return tag;
}

function refuseAll(given: object, what: string): Record<string, never> {
  const first = Object.keys(given)[0];
  if (first !== undefined) {
    const param = redact(first.slice(0, 100));
    throw new AppError('unknown_parameter', `This request takes no ${what}; leave ${param} out.`, { param });
  }
  return {};
}

/** A router that serves the routes, whose paths begin with `prefix`, and refuses other methods of the same paths. */
export function serveRoutes(routes: readonly Route[], parts: ControlParts, prefix: string): Router {
  const router = Router({ caseSensitive: true });
  const methods = new Map<string, Method[]>();
  for (const one of routes) methods.set(one.path, [...(methods.get(one.path) ?? []), one.method]);
  const mark =
    (path: string): RequestHandler =>
    (_req, res, next) => {
      contextOf(res).route = path;
      next();
    };
  for (const one of routes) {
    router[one.method](one.path.slice(prefix.length), mark(one.path), (req, res) =>
      one.handle(parts, req, res),
    );
  }
  for (const [path, known] of methods) {
    const allow = known.map((method) => (method === 'get' ? 'GET, HEAD' : method.toUpperCase())).join(', ');
    router.all(path.slice(prefix.length), mark(path), (req, res) => {
      res.set('Allow', allow);
      throw new AppError('method_not_allowed', `${req.method} is not possible here; use ${allow}.`);
    });
  }
  return router;
}
