// Serves the dashboard's page and its assets. One page answers every route of the app; what it may load is the policy below.
import { createHash } from 'node:crypto';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { AppError } from '../../errors.ts';
import { contextOf } from '../http/request-context.ts';
import { type Asset, type Assets, type Bundle, ENTRY } from './assets.ts';

/** First segments that are not the app's, whatever stands behind them. */
const RESERVED = /^\/(v1|docs|media|carriers|healthz|readyz|metrics|assets|dashboard)(\/|$)/;
/** The app's own routes are words and ids; a path with a dot asks for a file that is not there. */
const APP_ROUTE = /^(\/[\w-]+)*\/?$/;

const importMap = ({ imports }: Bundle) => JSON.stringify({ imports });

/**
 * Whether a page is wanted. Browsers name it when they go somewhere; a program that has left `/v1` out of a path does
 * not, and is not to take a page for its answer. At the root, which no program asks by mistake, anything will do.
 */
function wantsPage(req: Request): boolean {
  if (req.path === '/') return req.accepts('html') !== false;
  return /\btext\/html\b/i.test(req.get('accept') ?? '');
}

const WORKER_POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'";

/** What the page may load and do. Its one inline script is the import map, known by its hash. */
function policyOf(bundle: Bundle): string {
  const hash = createHash('sha256').update(importMap(bundle)).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "media-src 'self' blob:",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Fills the template's placeholders: `{{assets}}`, and `{{modules}}` for import map, preloads and entry. */
function pageOf(bundle: Bundle): string {
  const assets = `/assets/${bundle.hash}`;
  const modules = [
    `<script type="importmap">${importMap(bundle)}</script>`,
    ...bundle.graph.map((path) => `<link rel="modulepreload" href="${assets}/${path}">`),
    `<script type="module" src="${assets}/${ENTRY}"></script>`,
  ].join('\n');
  return bundle.template.replaceAll('{{assets}}', assets).replaceAll('{{modules}}', () => modules);
}

function sendAsset(req: Request, res: Response, asset: Asset): void {
  const accepted = req.acceptsEncodings(['br', 'gzip']);
  const [encoding, body] =
    accepted === 'br' && asset.brotli !== null
      ? ['br', asset.brotli]
      : accepted === 'gzip' && asset.gzip !== null
        ? ['gzip', asset.gzip]
        : [null, asset.plain];
  res.set({
    'Content-Type': asset.type,
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    'Content-Length': String(body.length),
  });
  if (encoding !== null) res.set('Content-Encoding', encoding);
  res.end(req.method === 'HEAD' ? undefined : body);
}

const getOnly: RequestHandler = (req, res) => {
  res.set('Allow', 'GET, HEAD');
  throw new AppError('method_not_allowed', `${req.method} is not possible here; use GET, HEAD.`);
};

/** `/assets/<hash>/…` and the page; everything else passes on to whoever comes next. */
export function pageRoutes(assets: Assets): Router {
  const router = Router({ caseSensitive: true });
  const mark =
    (route: string): RequestHandler =>
    (_req, res, next) => {
      contextOf(res).route = route;
      next();
    };

  router.get('/assets/:hash/*path', mark('/assets'), (req, res) => {
    const { hash, path } = req.params as unknown as { hash: string; path: string[] };
    const asset = assets.find(hash, path.join('/'));
    if (asset === null) {
      throw new AppError(
        'not_found',
        'This file belongs to another version of the dashboard; load the page again.',
      );
    }
    // A worker has the policy of its own file, not of the page: this one may ask the daemon, and load its parts.
    if (path.at(-1)?.endsWith('-worker.ts')) res.set('Content-Security-Policy', WORKER_POLICY);
    sendAsset(req, res, asset);
  });
  router.all('/assets/:hash/*path', mark('/assets'), getOnly);

  const page: RequestHandler = (req, res, next) => {
    if (RESERVED.test(req.path) || !APP_ROUTE.test(req.path)) {
      next();
      return;
    }
    res.vary('Accept');
    if (!wantsPage(req)) {
      next();
      return;
    }
    contextOf(res).route = '/';
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      getOnly(req, res, next);
      return;
    }
    const bundle = assets.current();
    res.set({
      'Content-Security-Policy': policyOf(bundle),
      'Permissions-Policy': 'microphone=(self), camera=(), geolocation=(), payment=(), usb=()',
      'Cross-Origin-Opener-Policy': 'same-origin',
    });
    res.type('html').send(pageOf(bundle));
  };
  router.use(page);
  return router;
}
