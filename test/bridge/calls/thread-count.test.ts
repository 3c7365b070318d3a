// How many media threads there are where nobody says.
import t from 'tap';
import { mediaThreadsFor } from '../../../bridge/calls/thread-count.ts';

t.test('as many as the calls ask for, and no more than there are cores', (t) => {
  const of = (mostCalls: number, cores: number) =>
    mediaThreadsFor({ mostCalls, cores, detectorPerCall: false });
  t.equal(of(1, 8), 1);
  t.equal(of(100, 8), 1);
  t.equal(of(101, 8), 2);
  t.equal(of(450, 8), 5);
  t.equal(of(10_000, 8), 8);
  t.equal(of(10_000, 1), 1);
  t.end();
});

t.test('a detector per call asks for every core', (t) => {
  t.equal(mediaThreadsFor({ mostCalls: 10, cores: 8, detectorPerCall: true }), 8);
  t.end();
});
