// Marks after a clear: a carrier that never sends them back is not taken for one that has stopped playing.
import t from 'tap';
import type { WebSocket } from 'ws';
import { CarrierLine, SEPARATELY } from '../../../bridge/media/carrier-line.ts';
import { UNPLAYED_LIMIT_MS } from '../../../bridge/media/line-watch.ts';

for (const [clearReturnsMarks, expected] of [
  [true, 'carrier_backpressure'],
  [false, 'open'],
] as const) {
  t.test(
    `a clear ${clearReturnsMarks ? 'returns' : 'drops'} its marks, and none comes -> ${expected}`,
    async (t) => {
      const sent: unknown[] = [];
      const socket = { bufferedAmount: 0, send: (data: unknown) => void sent.push(data) };
      const line = new CarrierLine(
        {
          socket: socket as unknown as WebSocket,
          transport: SEPARATELY,
          streamId: 's',
          wire: {
            clearReturnsMarks,
            decode: () => ({ type: 'ignored', event: 'none' }),
            audio: () => 'audio',
            mark: (_id, name) => `mark ${name}`,
            clear: () => 'clear',
          },
        },
        0,
      );
      line.mark('0:800', 10);
      line.clear();
      t.same(sent, ['mark 0:800', 'clear']);
      line.frame(UNPLAYED_LIMIT_MS);
      t.equal(line.look(11 + UNPLAYED_LIMIT_MS), expected);
    },
  );
}
