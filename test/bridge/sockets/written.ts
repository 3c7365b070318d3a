// What is written to a socket, as the other end reads it: the frame taken apart by hand.
import { FrameWriter } from '../../../bridge/sockets/frames.ts';

/** A message of a websocket. */
export interface Message {
  data: Buffer;
  isBinary: boolean;
}

/** One whole frame, its mask taken off. */
export function readFrame(frame: Buffer): Message & { masked: boolean } {
  const opcode = frame[0]!;
  if (opcode !== 0x81 && opcode !== 0x82) throw new Error(`a frame begins with ${opcode.toString(16)}`);
  const masked = frame[1]! >= 0x80;
  const short = frame[1]! & 0x7f;
  const [length, from] =
    short === 126
      ? [frame.readUInt16BE(2), 4]
      : short === 127
        ? [Number(frame.readBigUInt64BE(2)), 10]
        : [short, 2];
  const start = from + (masked ? 4 : 0);
  if (frame.length !== start + length)
    throw new Error(`${length} bytes are told, ${frame.length - start} come`);
  const data = Buffer.from(frame.subarray(start));
  if (masked) for (let i = 0; i < length; i++) data[i]! ^= frame[from + (i & 3)]!;
  return { data, isBinary: opcode === 0x82, masked };
}

/** The message that is written. */
export function written(write: (message: FrameWriter) => void): Message {
  const writer = new FrameWriter();
  write(writer);
  const { data, isBinary } = readFrame(writer.take(null));
  return { data, isBinary };
}
