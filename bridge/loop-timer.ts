// Timers of a thread's loop: what runs again and again, and deadlines of a peer, where the thread may itself stand still. Only
// the time in which its loop turned counts against the peer, and what that has sent by the end is read before it is judged.

/** A standstill counts for no more than one of these parts of the whole. */
const PARTS = 5;

/** Runs `run` once, when the loop has turned for about `ms` milliseconds. The answer cancels it. */
export function afterTurning(ms: number, run: () => void): () => void {
  let part = 0;
  let last: NodeJS.Immediate | undefined;
  let timer = setTimeout(next, ms / PARTS);

  function next(): void {
    part++;
    if (part < PARTS) timer = setTimeout(next, ms / PARTS);
    // Timers come before reads in a turn of the loop, immediates after them.
    else last = setImmediate(run);
  }

  return () => {
    clearTimeout(timer);
    clearImmediate(last);
  };
}

/** Runs `run` again and again, by the loop's own clock, which nobody sets; keeps no process. The answer stops it. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  timer.unref();
  return () => clearInterval(timer);
}
