// Loaded into a daemon before its own files: each SIGUSR2 makes its disk slow, or quick again.
import { isMainThread } from 'node:worker_threads';
import { setFailpoints } from '../../failpoints.ts';

/** What each commit takes. */
const SLOW = ['commit:500ms'];

if (isMainThread) {
  let slow = false;
  process.on('SIGUSR2', () => {
    slow = !slow;
    setFailpoints(slow ? SLOW : []);
  });
}
