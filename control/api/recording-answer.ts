// How a recording is sent: as it is kept, in ranges too, or converted while it is sent.
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { AppError } from '../../errors.ts';
import { concurrencyQueue } from '../http/concurrency-queue.ts';
import { errorBody } from '../http/error-answer.ts';
import type { OpenRecording, RecordingShape } from '../http/parts.ts';
import { contextOf } from '../http/request-context.ts';

interface Kept {
  /** The file stays below it, whatever its record says. */
  root: string;
  file: string;
  /** For whoever saves it. */
  name: string;
}

/**
 * Recordings converted at once. Each takes about a megabyte for as long as its reader does, and all of them together one
 * core at most.
 */
const conversions = concurrencyQueue({ atOnce: 8, ofOne: 4, waiting: 32, waitMs: 10_000 });
const TRY_AGAIN_SECONDS = 10;

const GONE = 'The recording is no longer there.';

/**
 * Answers with a recording of the organization `orgId`.
 * @throws AppError not_found, conflict for one that cannot be converted, at_capacity when too many are
 */
export async function sendRecording(
  res: Response,
  o: { orgId: string; kept: Kept; shape: RecordingShape; open: OpenRecording },
): Promise<void> {
  if (o.shape.channels === 'stereo' && o.shape.rateHz === 8000) return sendAsItIs(res, o.kept);
  // Whoever left while the call was looked up says so no second time.
  if (res.destroyed) return;
  const gone = new AbortController();
  const leaving = () => gone.abort();
  res.once('close', leaving);
  const leave = await conversions.enter(o.orgId, gone.signal);
  res.off('close', leaving);
  // Nobody is there to be told.
  if (gone.signal.aborted) return leave?.();
  if (leave === null) {
    throw new AppError(
      'at_capacity',
      'As many recordings are being converted as may be at once; wait as long as Retry-After says. Without channels and rate it can be had as it is.',
      { retryAfterSeconds: TRY_AGAIN_SECONDS, retryable: true },
    );
  }
  try {
    await sendConverted(res, o.kept, o.shape, o.open);
  } finally {
    leave();
  }
}

async function sendConverted(res: Response, kept: Kept, shape: RecordingShape, open: OpenRecording) {
  const file = path.resolve(kept.root, kept.file);
  if (!file.startsWith(kept.root + path.sep)) throw new AppError('not_found', GONE);
  const opened = await open(file, shape).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'EISDIR') throw new AppError('not_found', GONE, { cause });
    throw cause;
  });
  if (opened === 'damaged') {
    throw new AppError(
      'conflict',
      'The file of this recording is damaged and cannot be converted; without channels and rate it can be had as it is.',
    );
  }
  res.set('Content-Type', 'audio/wav');
  res.set('Content-Disposition', `attachment; filename="${kept.name}"`);
  res.set('Content-Length', String(opened.bytes));
  res.set('Accept-Ranges', 'none');
  if (res.req.method === 'HEAD') {
    opened.sound.destroy();
    res.end();
    return;
  }
  // Waits for whoever reads; one that goes away ends the conversion, and there is nobody to tell.
  await pipeline(opened.sound, res).catch(() => {});
}

function sendAsItIs(res: Response, o: Kept): Promise<void> {
  res.set('Content-Type', 'audio/wav');
  res.set('Content-Disposition', `attachment; filename="${o.name}"`);
  return new Promise((resolve, reject) => {
    // `root` keeps the path inside the data folder, whatever the record says.
    res.sendFile(o.file, { root: o.root, cacheControl: false, acceptRanges: true }, (thrown?: unknown) => {
      const error = thrown as
        | { status?: number; code?: string; headers?: Record<string, string> }
        | undefined;
      if (error === undefined) return resolve();
      // The client went away or the answer has begun: there is nobody to tell.
      if (res.headersSent || error.code === 'ECONNABORTED') return resolve();
      res.removeHeader('Content-Disposition');
      res.removeHeader('Content-Type');
      if (error.status === 416) {
        if (error.headers?.['Content-Range']) res.set('Content-Range', error.headers['Content-Range']);
        const refusal = new AppError(
          'invalid_request',
          'The range lies outside the recording; Content-Range tells its size.',
        );
        res.status(416).json(errorBody(refusal, contextOf(res).requestId));
        return resolve();
      }
      if (error.status === 404 || error.status === 403 || error.code === 'EISDIR') {
        return reject(new AppError('not_found', GONE, { cause: thrown }));
      }
      reject(thrown);
    });
  });
}
