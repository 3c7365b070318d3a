// Whether the database file is whole. A small file is checked before it is opened; a large one takes a minute and more, so
// a process of its own reads it while the daemon works: low in priority, and ended at any moment.
import { fork } from 'node:child_process';
import { statSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Log } from '../../log.ts';
import type { Integrity, IntegrityCheck } from '../integrity.ts';

/** Up to here, reading the whole file takes well below a second. */
export const CHECKED_AT_OPEN_BYTES = 32 * 1024 * 1024;
/** The least that the scheduler has (nice 19): audio and the control thread come first. */
const LOWEST_PRIORITY = 19;

/** What the checking process says: once per table, then once at the end. */
export type CheckMessage =
  | { type: 'table'; table: string; found: string; ms: number }
  | { type: 'done' }
  | { type: 'failed'; reason: string };

/** Whether opening a file has checked all of it. */
export function checkedAtOpen(path: string): boolean {
  return (
    path === ':memory:' || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= CHECKED_AT_OPEN_BYTES
  );
}

/** Begins to check an open database beside the work on it. What is found is told to the log, an error where it is damage. */
export function openIntegrityCheck(o: { path: string; log: Log; always?: boolean }): IntegrityCheck {
  const { path, log } = o;
  let state: Integrity = { state: 'ok', found: null, seconds: null };
  if (!o.always && checkedAtOpen(path)) {
    return { now: () => state, over: Promise.resolve(), close: async () => {} };
  }
  state = { ...state, state: 'running' };
  const begun = performance.now();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const child = fork(new URL('./integrity-process.ts', import.meta.url), [path], {
    env: {},
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let closing = false;
  try {
    if (child.pid !== undefined) setPriority(child.pid, LOWEST_PRIORITY);
  } catch {
    // It may have ended already, or the host forbids it: the check is the same.
  }

  function finish(result: Integrity['state'], found: string | null): void {
    if (state.state !== 'running') return;
    const seconds = Math.round((performance.now() - begun) / 100) / 10;
    state = { state: result, found, seconds };
    if (result === 'ok') log.info({ seconds }, 'storage.checked');
    else if (result === 'damaged') log.error({ path, found, seconds }, 'storage.damaged');
    else if (!closing) log.warn({ why: found, seconds }, 'storage.not_checked');
    end();
  }

  let damage: string | null = null;
  child.on('message', (message: CheckMessage) => {
    if (message.type === 'table' && message.found !== 'ok') damage ??= `${message.table}: ${message.found}`;
    if (message.type === 'failed') finish('unknown', message.reason);
    if (message.type === 'done') finish(damage === null ? 'ok' : 'damaged', damage);
  });
  child.once('error', (error) => finish('unknown', error.message));
  child.once('exit', (code, signal) => finish('unknown', `the check ended by ${signal ?? code}`));

  return {
    now: () => state,
    over,
    async close() {
      closing = true;
      if (state.state !== 'running') return;
      child.kill('SIGKILL');
      await over;
    },
  };
}
