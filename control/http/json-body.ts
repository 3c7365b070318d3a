// Reads a JSON body: type, size, encoding, depth and keys are checked before any route sees it.
import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import { AppError } from '../../errors.ts';

const BODY_BYTES = 262_144;
const DEPTH = 32;

// Gzip stays out: nothing this small needs it, and a bomb then has no fuse.
const raw = express.raw({ type: () => true, limit: BODY_BYTES, inflate: false });

/**
 * A body's bytes -> its JSON object.
 * @throws AppError invalid_json or invalid_request
 */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new AppError('invalid_json', `The body is not JSON: ${whyNot(error)}.`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AppError('invalid_request', 'The body must be a JSON object: {"…": …}.');
  }
  checkTree(value);
  return value as Record<string, unknown>;
}

/**
 * Where JSON.parse gave up. Its message may quote the body around that place, which belongs in no answer: what it quotes
 * stands in double quotes, and nothing else does.
 */
function whyNot(error: unknown): string {
  if (!(error instanceof SyntaxError)) return 'it is not UTF-8';
  return error.message.includes('"')
    ? 'it has a character where none of its kind may stand'
    : error.message.slice(0, 200);
}

/** Walks level by level, not by recursion: the depth is the client's to choose. */
function checkTree(root: object): void {
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > DEPTH) throw new AppError('invalid_request', `The body may be nested ${DEPTH} deep at most.`);
    const next: object[] = [];
    for (const node of level) {
      if (Object.hasOwn(node, '__proto__')) {
        throw new AppError('invalid_request', 'A field may not be called __proto__.', { param: '__proto__' });
      }
      for (const child of Object.values(node)) {
        if (typeof child === 'object' && child !== null) next.push(child);
      }
    }
    level = next;
  }
}

function isJson(contentType: string | undefined): boolean {
  const [type, ...parameters] = (contentType ?? '').toLowerCase().split(';');
  if (type?.trim() !== 'application/json') return false;
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith('charset='));
  return charset === undefined || /^charset="?utf-?8"?$/.test(charset);
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;

/** Whether it has a body in CSV, in UTF-8 and not compressed. */
export function isCsv(req: IncomingMessage): boolean {
  const [type, ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  const encoding = req.headers['content-encoding'] ?? 'identity';
  return hasBody(req) && type?.trim() === 'text/csv' && isUtf8 && encoding === 'identity';
}

/**
 * A body, whole: what is done with it takes longer than a body may take to arrive. The connection stays, for the answer.
 * @throws AppError body_too_large above so many bytes
 */
export async function bodyBytes(req: IncomingMessage, most: number): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > most)
      throw new AppError('body_too_large', `The file may have ${Math.floor(most / 1_000_000)} MB at most.`);
    chunks.push(chunk);
  }
  return chunks;
}

/**
 * Puts the JSON object into `req.body`; `{}` where there is none. GET and HEAD have no body, whatever they send. With
 * `leavesCsv` a body in CSV is left to be read by whoever takes it.
 */
export function jsonBody({ leavesCsv = false } = {}): RequestHandler {
  return (req, res, next) => {
    req.body = {};
    if (req.method === 'GET' || req.method === 'HEAD' || !hasBody(req)) return next();
    if (leavesCsv && isCsv(req)) return next();
    // An empty chunked body is no body, whatever its type, so the type is asked after reading.
    raw(req, res, (error?: unknown) => {
      if (error) return next(error);
      const bytes: unknown = req.body;
      req.body = {};
      if (!Buffer.isBuffer(bytes) || bytes.length === 0) return next();
      if (!isJson(req.headers['content-type'])) {
        return next(
          new AppError(
            'unsupported_media_type',
            'Send the body as Content-Type: application/json, in UTF-8.',
          ),
        );
      }
      try {
        req.body = parseJsonObject(bytes);
      } catch (thrown) {
        return next(thrown);
      }
      next();
    });
  };
}
