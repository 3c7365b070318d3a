// An error -> the JSON answer every client sees. What is not an AppError shows the user "internal" and nothing else;
// the request's log line carries the rest.
import type { ErrorRequestHandler, Response } from 'express';
import { AppError } from '../../errors.ts';
import { contextOf } from './request-context.ts';

/** The body of an error answer. */
export function errorBody(error: AppError, requestId: string): { error: Record<string, unknown> } {
  const internal = error.code === 'internal';
  return {
    error: {
      code: error.code,
      message: internal ? INTERNAL : error.message,
      ...(error.param === undefined || internal ? {} : { param: error.param }),
      ...(error.carrierCode === undefined ? {} : { carrier_code: error.carrierCode }),
      ...(error.evidence === undefined ? {} : { evidence: error.evidence }),
      request_id: requestId,
    },
  };
}

const INTERNAL =
  'Something went wrong here. Try again; if it stays, give the request_id to whoever runs this service.';

/** Whatever was thrown -> an AppError: express's and its parsers' own 4xx by their status, all else `internal`. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const { status, type } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as {
    status?: unknown;
    type?: unknown;
  };
  const options = { cause: thrown };
  if (status === 413) {
    return new AppError('body_too_large', 'The body may have 256 KB at most; send less.', options);
  }
  if (status === 415) {
    const message =
      type === 'encoding.unsupported'
        ? 'Send the body as it is, without Content-Encoding.'
        : 'Send the body as Content-Type: application/json, in UTF-8.';
    return new AppError('unsupported_media_type', message, options);
  }
  if (status === 404) return new AppError('not_found', 'There is nothing here.', options);
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const message =
      thrown instanceof URIError
        ? 'The path is not valid: a % starts two hexadecimal digits.'
        : 'The request could not be read in full; send it again.';
    return new AppError('invalid_request', message, options);
  }
  return new AppError('internal', INTERNAL, options);
}

/** Answers an error, unless the answer has begun: then the connection is cut, so that nobody takes a part for the whole. */
function sendError(res: Response, thrown: unknown): void {
  const context = contextOf(res);
  context.error = thrown;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const error = toAppError(thrown);
  if (error.retryAfterSeconds !== undefined) {
    res.set('Retry-After', String(Math.max(1, Math.ceil(error.retryAfterSeconds))));
  } else if (error.status === 503) {
    res.set('Retry-After', '5');
  }
  res.status(error.status).json(errorBody(error, context.requestId));
}

/** The last handler. Four parameters are how express knows it. */
export const handleError: ErrorRequestHandler = (thrown, _req, res, _next) => sendError(res, thrown);
