// What media threads are opened with in programs of the tests that look at the threads alone: no caller, no model, no log.
import type { MediaThreadsOptions } from '../../bridge/calls/media-threads.ts';
import { openLog } from '../../log.ts';

/** One thread on a port of its own choice, unless `over` says otherwise. */
export const threadOptions = (over: Partial<MediaThreadsOptions> = {}): MediaThreadsOptions => ({
  count: 1,
  firstPort: 0,
  data: {
    epoch: 1,
    carrierSecrets: {},
    publicUrl: 'http://127.0.0.1:1',
    logLevel: 'silent',
    callerIdleSeconds: 12,
    earlyAnswers: true,
    turnDetection: 'local',
    modelSessionSeconds: 3_300,
    vadModel: 'v5',
  },
  publicPort: null,
  admission: { lateMs: 0 },
  codeCache: null,
  log: openLog('silent'),
  strangers: { saw: () => {} },
  clientOf: () => ({ address: '127.0.0.1', shared: true }),
  onMessage: () => {},
  onConnection: (connection) => connection.destroy(),
  onPublic: () => {},
  onLost: () => {},
  ...over,
});
