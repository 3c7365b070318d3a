// Marks after a clear: a carrier that never sends them back is not taken for one that has stopped playing.
import t from 'tap';
import { CarrierLine } from '../../../bridge/media/carrier-line.ts';
import { UNPLAYED_LIMIT_MS } from '../../../bridge/media/line-watch.ts';
import type { FrameSocket } from '../../../bridge/sockets/frame-socket.ts';
import type { FrameWriter } from '../../../bridge/sockets/frames.ts';
import { written } from '../sockets/written.ts';

for (const [clearReturnsMarks, expected] of [
  [true, 'carrier_backpressure'],
  [false, 'open'],
] as const) {
  t.test(
    `a clear ${clearReturnsMarks ? 'returns' : 'drops'} its marks, and none comes -> ${expected}`,
    async (t) => {
      const sent: string[] = [];
      const socket = {
        waitingBytes: 0,
        send: (write: (message: FrameWriter) => void) => void sent.push(String(written(write).data)),
      };
      const line = new CarrierLine(
        {
          socket: socket as unknown as FrameSocket,
          streamId: 's',
          wire: {
            clearReturnsMarks,
            decode: () => ({ type: 'ignored', event: 'none' }),
            audio: (message) => void message.text('audio'),
            mark: (message, _id, name) => void message.text(`mark ${name}`),
            clear: (message) => void message.text('clear'),
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
