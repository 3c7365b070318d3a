// Serves the reference: /v1/openapi.json for programs and /docs for people. Both are the same for everybody and hold
// nothing of anybody, so neither needs a key. What they say is made by openapi.ts and reference-page.ts.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type RequestHandler, Router } from 'express';
import { AppError } from '../../errors.ts';
import { contextOf } from '../http/request-context.ts';
import type { Route } from '../http/route.ts';
import { openApiDocument } from './openapi.ts';
import { policyOf, referencePage } from './reference-page.ts';

const DOCUMENT_PATH = '/openapi.json';

interface Made {
  /** As bytes: a text would be made into them at every request. */
  text: Buffer;
  /** The same as most clients take it: a fifth of it. */
  gzip: Buffer;
  /** Of the text; what is packed has another. */
  etag: string;
}

/** `document` belongs in the router of /v1, before its key is asked for; `page` at the root. */
export interface ReferenceRoutes {
  document: Router;
  page: Router;
}

/**
 * @param o.routes every route of /v1
 * @param o.count what a request for either is counted by, for they are large and need no key
 */
export function referenceRoutes(o: {
  routes: readonly Route[];
  version: string;
  count: RequestHandler;
}): ReferenceRoutes {
  // Made when first asked for: a start need not wait for it.
  const document = keep(() => JSON.stringify(openApiDocument(o)));
  const face = readFace();
  const html = keep(() => referencePage(openApiDocument(o), face.path));

  const v1 = Router({ caseSensitive: true });
  const markDocument = mark(`/v1${DOCUMENT_PATH}`);
  v1.get(DOCUMENT_PATH, markDocument, o.count, send(document, 'application/json'));
  v1.all(DOCUMENT_PATH, markDocument, o.count, getOnly);

  const page = Router({ caseSensitive: true });
  const markPage = mark('/docs');
  page.get(
    '/docs',
    markPage,
    o.count,
    send(html, 'text/html', { 'Content-Security-Policy': policyOf(face.path) }),
  );
  page.all('/docs', markPage, o.count, getOnly);
  page.get(face.path, markPage, (_req, res) => {
    res
      .set({ 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': 'font/woff2' })
      .send(face.bytes);
  });
  return { document: v1, page };
}

/** The typeface of the page, under a name that changes with it. */
function readFace(): { path: string; bytes: Buffer } {
  const file = import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');
  const bytes = readFileSync(new URL(file));
  return {
    path: `/docs/inter-${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.woff2`,
    bytes,
  };
}

function mark(path: string): RequestHandler {
  return (_req, res, next) => {
    contextOf(res).route = path;
    next();
  };
}

const getOnly: RequestHandler = (req, res) => {
  res.set('Allow', 'GET, HEAD');
  throw new AppError('method_not_allowed', `${req.method} is not possible here; use GET, HEAD.`);
};

function keep(make: () => string): () => Made {
  let made: Made | null = null;
  return () => {
    if (made === null) {
      const text = Buffer.from(make(), 'utf8');
      const etag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
      made = { text, gzip: gzipSync(text), etag };
    }
    return made;
  };
}

/** Express answers 304 by itself where the ETag is the one that the client has. */
function send(what: () => Made, type: string, headers: Record<string, string> = {}): RequestHandler {
  return (req, res) => {
    const { text, gzip, etag } = what();
    const packed = req.acceptsEncodings(['gzip']) === 'gzip';
    res
      .set({ ...headers, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' })
      .set(packed ? { ETag: `"${etag}-gzip"`, 'Content-Encoding': 'gzip' } : { ETag: `"${etag}"` })
      .type(type)
      .send(packed ? gzip : text);
  };
}
