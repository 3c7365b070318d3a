// Looking for what others left: whatever fails at one look, calls that were taken are ended, and the next look follows.
import t from 'tap';
import { openTakeover } from '../../../bridge/calls/takeover.ts';
import type { Log } from '../../../log.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';

t.test('calls that are taken are ended, though results cannot be settled, and looks go on', async (t) => {
  const call = makeCall('org');
  const looks: CallRecord[][] = [[], [call], []];
  const ended: string[] = [];
  const errors: unknown[][] = [];
  const thrice = Promise.withResolvers<void>();
  const takeover = openTakeover({
    store: {
      async takeOver() {
        const taken = looks.shift() ?? [];
        if (looks.length === 0) thrice.resolve();
        return taken;
      },
    },
    log: { error: (...line: unknown[]) => errors.push(line) } as unknown as Log,
    async end(calls) {
      ended.push(...calls.map(({ id }) => id));
    },
    settle() {
      throw new Error('not today');
    },
    everyMs: 1,
  });
  takeover.start();
  // Its own timer keeps no process.
  const awake = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(awake));
  await thrice.promise;
  await takeover.close();
  t.strictSame(ended, [call.id]);
  t.ok(errors.length >= 2 && errors.every(([, message]) => message === 'calls.not_taken_over'));
});
