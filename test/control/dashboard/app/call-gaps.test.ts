// The gaps in a call's sound, as its page says them.
import t from 'tap';
import {
  gapCause,
  gapLabel,
  gapSentence,
  isGapOpen,
  withGaps,
} from '../../../../control/dashboard/app/call-gaps.ts';
import type { CallGap } from '../../../../control/sdk/index.ts';

const gap = (fields: Partial<CallGap> = {}): CallGap => ({
  why: 'stream_lost',
  started_at: '2026-03-01T12:00:20.000Z',
  from_ms: 65_200,
  to_ms: 66_020,
  ...fields,
});
const open = gap({ to_ms: null });

t.test('in words: what broke, when, for how long, and whether the call went on', async (t) => {
  const table: [CallGap, boolean, string, string][] = [
    [
      gap(),
      true,
      'The line to the carrier broke at 1:05: nothing was heard for 820 ms, then the call went on.',
      'No sound for 820 ms',
    ],
    [
      gap({ why: 'thread_lost', to_ms: 68_000 }),
      true,
      'A part of the daemon broke down at 1:05: nothing was heard for 2.80 s, then the call went on.',
      'No sound for 2.80 s',
    ],
    [
      open,
      false,
      'The line to the carrier broke at 1:05: the line is not back yet.',
      'No sound: the line is not back yet',
    ],
    [
      gap({ why: 'daemon_restart', to_ms: null }),
      true,
      'The daemon stopped and started again at 1:05: the line did not come back.',
      'No sound from here to the end',
    ],
  ];
  for (const [one, over, sentence, label] of table) {
    t.equal(gapSentence(one, over), sentence);
    t.equal(gapLabel(one, over), label);
    t.ok(sentence.startsWith(gapCause(one)));
  }
});

t.test('only the last one can be open', async (t) => {
  t.equal(isGapOpen({ gaps: [] }), false);
  t.equal(isGapOpen({ gaps: [gap()] }), false);
  t.equal(isGapOpen({ gaps: [gap(), open] }), true);
});

t.test('between what was said: behind the line that it broke, before the one after it', async (t) => {
  const at = (from_ms: number) => gap({ from_ms });
  const shown = (items: number[], gaps: CallGap[]) =>
    withGaps(items, gaps, (ms) => ms).map((one) => one.item ?? `gap ${one.gap?.from_ms}`);
  t.same(shown([], []), []);
  t.same(shown([0, 100], []), [0, 100]);
  t.same(shown([0, 100], [at(50)]), [0, 'gap 50', 100]);
  t.same(shown([0, 100], [at(100)]), [0, 100, 'gap 100'], 'a line that begins with it stands before it');
  t.same(shown([200], [at(50), at(100), at(300)]), ['gap 50', 'gap 100', 200, 'gap 300']);
  t.same(shown([], [at(50)]), ['gap 50']);
});
