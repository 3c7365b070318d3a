// `GET recordings/:call_id`: whether a call was recorded, and how long its file is. So that a page need not ask for a file
// that is not there; the sound itself is /v1's.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Router } from 'express';
import { AppError } from '../../errors.ts';
import type { Store } from '../../storage/store.ts';
import { NO_CALL } from '../api/calls.ts';
import { sessionOf } from './guard.ts';

export function recordingApi(o: { store: Pick<Store, 'getCall'>; dataDir: string }): Router {
  const router = Router({ caseSensitive: true });
  router.get('/recordings/:id', async (req, res) => {
    const call = await o.store.getCall(sessionOf(res).orgId, req.params.id.toLowerCase());
    if (call === null) throw new AppError('not_found', NO_CALL);
    const file = call.recording_path === null ? null : path.resolve(o.dataDir, call.recording_path);
    const found = file === null ? null : await stat(file).catch(() => null);
    res.json({ recorded: found !== null, bytes: found?.size ?? null });
  });
  return router;
}
