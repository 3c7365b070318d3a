// Several watchers as one.
import t from 'tap';
import type { CallObserver } from '../../../bridge/calls/call-observers.ts';
import { observeAll } from '../../../bridge/calls/call-observers.ts';
import { makeCall, makeItem, makeTurn } from '../../storage/makers.ts';

t.test('each watcher hears everything, whatever another one does', async (t) => {
  const heard: string[] = [];
  const errors: unknown[] = [];
  const whole = (name: string): Required<CallObserver> => ({
    changed: ({ id }) => void heard.push(`${name} changed ${id}`),
    ended: ({ id }) => void heard.push(`${name} ended ${id}`),
    floor: (id, floor, atMs) => void heard.push(`${name} floor ${id} ${floor} ${atMs}`),
    words: (id, items) => void heard.push(`${name} words ${id} ${items.length}`),
    turn: ({ call_id }) => void heard.push(`${name} turn ${call_id}`),
    interruption: ({ call_id }) => void heard.push(`${name} interruption ${call_id}`),
    shortWord: (became) => void heard.push(`${name} short word ${became}`),
    gap: (why, seconds, ended) => void heard.push(`${name} gap ${why} ${seconds} ${ended}`),
    refused: (why) => void heard.push(`${name} refused ${why}`),
  });
  const broken: CallObserver = {
    changed() {
      throw new Error('broken');
    },
  };
  const all = observeAll([whole('a'), broken, {}, whole('b')], {
    error: (...said: unknown[]) => void errors.push(said),
  });
  const call = makeCall('o', { id: 'c' });
  all.changed?.(call);
  all.ended?.(call);
  all.floor?.('c', 'agent', 5);
  all.words?.('c', [makeItem('c')]);
  all.turn?.(makeTurn('c'));
  all.shortWord?.('stopped');
  all.gap?.('stream_lost', 0.8, 'resumed');
  all.refused?.('draining');
  const told = [
    'changed c',
    'ended c',
    'floor c agent 5',
    'words c 1',
    'turn c',
    'short word stopped',
    'gap stream_lost 0.8 resumed',
    'refused draining',
  ];
  t.same(
    heard,
    told.flatMap((one) => [`a ${one}`, `b ${one}`]),
  );
  t.equal(errors.length, 1, 'and the log hears of the broken one');
});
