// The thread of recording-exports.ts: opens recordings and converts a piece of one when it is asked for.
import type { Readable } from 'node:stream';
import { parentPort } from 'node:worker_threads';
import type { ExportAnswer, ExportOrder } from './recording-exports.ts';
import { exportRecording, NotARecording } from './recording-file.ts';

const port = parentPort;
if (port === null) throw new Error('a thread of the daemon');
const sounds = new Map<number, { sound: Readable; pieces: AsyncIterator<Buffer> }>();

async function follow(order: ExportOrder): Promise<ExportAnswer | null> {
  const { id } = order;
  if (order.do === 'open') {
    const { bytes, sound } = await exportRecording(order.path, order.shape);
    sounds.set(id, { sound, pieces: sound[Symbol.asyncIterator]() });
    return { id, is: 'opened', bytes };
  }
  const one = sounds.get(id);
  if (one === undefined) return null;
  if (order.do === 'close') {
    sounds.delete(id);
    one.sound.destroy();
    return null;
  }
  const { done, value } = await one.pieces.next();
  return done ? { id, is: 'end' } : { id, is: 'piece', piece: value };
}

/** A piece that has its memory for itself is handed over with it. */
function send(answer: ExportAnswer): void {
  const buffer = answer.is === 'piece' ? answer.piece.buffer : null;
  const isOwn = answer.is === 'piece' && buffer?.byteLength === answer.piece.byteLength;
  port?.postMessage(answer, isOwn && buffer instanceof ArrayBuffer ? [buffer] : []);
}

port.on('message', (order: ExportOrder) => {
  follow(order).then(
    (answer) => {
      if (answer !== null) send(answer);
    },
    (error: NodeJS.ErrnoException) =>
      send({
        id: order.id,
        is: 'failed',
        message: error.message,
        code: error.code,
        notARecording: error instanceof NotARecording,
      }),
  );
});
