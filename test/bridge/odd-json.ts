// Messages of JSON as nobody should send them, drawn at random: broken, and whole ones that read otherwise than they look.
import type { Random } from '../random.ts';

const BYTES = [0, 10, 0x1f, 0x20, 0x22, 0x2c, 0x3a, 0x5c, 0x5d, 0x7b, 0x7d, 0x80, 0xff];

/**
 * The message, with up to three of its places changed.
 * @param pieces what may come to stand anywhere in it
 */
export function oddly(random: Random, message: string, pieces: readonly string[]): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  let bytes = Buffer.from(message);
  for (let left = below(4); left > 0; left--) {
    const at = below(bytes.length + 1);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    const piece = Buffer.from(pieces[below(pieces.length)]!);
    switch (below(6)) {
      case 0:
        bytes = Buffer.concat([before, after.subarray(1 + below(3))]);
        break;
      case 1:
        bytes = Buffer.concat([before, Buffer.from([BYTES[below(BYTES.length)]!]), after.subarray(below(2))]);
        break;
      case 2:
        if (random() < 0.05) bytes = Buffer.from(before);
        break;
      // Where a field or a value may stand, which leaves it whole more often.
      default: {
        const comma = bytes.indexOf(random() < 0.5 ? ',"' : '"', at);
        const from = comma < 0 ? at : comma + 1;
        bytes = Buffer.concat([bytes.subarray(0, from), piece, bytes.subarray(from)]);
      }
    }
  }
  return bytes;
}
