// Deadlines of a peer, on a thread that may itself stand still: only the time in which its loop turned counts against the peer,
// and what the peer has sent by the end is read before it is judged.

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
