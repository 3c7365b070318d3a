// The campaign of kills in mid-talk: the daemon is killed with SIGKILL and started again at once, as a supervisor would,
// again and again, and the talks have to go on.
import { untilListening } from '../lab.ts';
import type { Breaker } from './breaks.ts';
import { lookAtHits } from './hits.ts';

const BOUNDS = { why: 'daemon_restart', mostBackMs: 2_000, mostSilenceMs: 3_000 };

export function killer(): Breaker {
  return {
    listens: false,
    kills: true,
    network: 'typical',
    async once(lab) {
      const { daemon } = lab;
      const atMs = Date.now();
      await daemon.stop('SIGKILL');
      const [backMs] = await Promise.all([untilListening(daemon.url), lab.restartDaemon()]);
      return { atMs, backMs };
    },
    look: (after) => lookAtHits(after, BOUNDS),
  };
}
