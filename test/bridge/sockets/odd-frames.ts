// What may come over a websocket, drawn at random: whole messages mostly, and among them parts, control frames, frames that break
// the protocol, all of it cut where it pleases a network.
import type { Random } from '../../random.ts';

export const MAX_PAYLOAD = 3_000;

interface Frame {
  fin?: boolean;
  reserved?: number;
  opcode: number;
  payload: Buffer;
  masked: boolean;
  /** Bytes that the length takes in the header: 0, 2 or 8; the least that will do, when not given. */
  lengthBytes?: number;
}

export class OddFrames {
  readonly #random: Random;
  readonly #masked: boolean;
  /** Of the stream's frames. */
  #lengths: number[] = [];

  /** @param masked whether the side that sends must mask */
  constructor(random: Random, masked: boolean) {
    this.#random = random;
    this.#masked = masked;
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  chance(of: number): boolean {
    return this.#random() < of;
  }

  /** A stream from its first frame on. */
  stream(): Buffer {
    const frames: Buffer[] = [];
    const odd = this.chance(0.5) ? 0.25 : 0.02;
    for (let left = this.below(30) + 1; left > 0; left--) {
      if (this.chance(odd)) frames.push(...this.#odd());
      else frames.push(this.#frame({ opcode: this.chance(0.8) ? 1 : 2 }));
    }
    this.#lengths = frames.map(({ length }) => length);
    const whole = Buffer.concat(frames);
    return this.chance(0.1) ? whole.subarray(0, this.below(whole.length)) : whole;
  }

  /** A whole message, as most are. */
  text(value: string): Buffer {
    return this.#frame({ payload: Buffer.from(value) });
  }

  ping(value: string): Buffer {
    return this.#frame({ opcode: 9, payload: Buffer.from(value) });
  }

  /** The stream as it is read: frame by frame as it was made, or in some hundred pieces of any length. */
  *cut(stream: Buffer): Generator<Buffer> {
    const asMade = this.chance(0.3) ? [...this.#lengths] : [];
    const most = Math.max([1, 7, 60, 700, 5_000, 100_000][this.below(6)]!, stream.length / 150);
    for (let at = 0; at < stream.length; ) {
      const bytes = asMade.shift() ?? 1 + this.below(most);
      yield stream.subarray(at, at + bytes);
      at += bytes;
    }
  }

  #payload(): Buffer {
    const length = [0, this.below(126), 125, 126, 127, this.below(500), this.below(MAX_PAYLOAD), MAX_PAYLOAD][
      this.below(8)
    ]!;
    const [first, step] = [this.below(256), this.below(256)];
    const payload = Buffer.alloc(length);
    for (let at = 0; at < length; at++) payload[at] = first + at * step;
    return payload;
  }

  #frame(o: Partial<Frame>): Buffer {
    const frame = { fin: true, reserved: 0, opcode: 1, masked: this.#masked, payload: this.#payload(), ...o };
    const { length } = frame.payload;
    const least = length < 126 ? 0 : length < 65_536 ? 2 : 8;
    const lengthBytes = Math.max(frame.lengthBytes ?? least, least);
    const header = Buffer.alloc(2 + lengthBytes);
    header[0] = (frame.fin ? 0x80 : 0) | (frame.reserved << 4) | frame.opcode;
    header[1] = (frame.masked ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
    if (lengthBytes === 2) header.writeUInt16BE(length, 2);
    if (lengthBytes === 8) header.writeBigUInt64BE(BigInt(length), 2);
    if (!frame.masked) return Buffer.concat([header, frame.payload]);
    const mask = Buffer.from(
      this.chance(0.2) ? [0, 0, 0, 0] : Array.from({ length: 4 }, () => this.below(256)),
    );
    return Buffer.concat([header, mask, frame.payload.map((byte, i) => byte ^ mask[i & 3]!)]);
  }

  #control(opcode: 8 | 9 | 10): Buffer {
    const payload = Buffer.from('x'.repeat(this.below(40)));
    if (opcode !== 8) return this.#frame({ opcode, payload });
    const code = Buffer.alloc(2);
    code.writeUInt16BE([1000, 1001, 1005, 3000, 4999, 7][this.below(6)]!);
    return this.#frame({
      opcode,
      payload: this.chance(0.3) ? Buffer.alloc(0) : Buffer.concat([code, payload]),
    });
  }

  #odd(): Buffer[] {
    switch (this.below(11)) {
      case 0:
        return [this.#control(9)];
      case 1:
        return [this.#control(10)];
      case 2:
        return [this.#control(8)];
      // A message in parts, with control frames between them.
      case 3:
      case 4: {
        const parts = [
          this.#frame({ fin: false, opcode: this.chance(0.5) ? 1 : 2, payload: Buffer.alloc(9, 0x61) }),
        ];
        for (let more = this.below(3); more > 0; more--) {
          if (this.chance(0.5)) parts.push(this.#control(this.chance(0.8) ? 9 : 10));
          parts.push(this.#frame({ fin: false, opcode: 0, payload: Buffer.alloc(this.below(300), 0x62) }));
        }
        // One that another message breaks into.
        if (this.chance(0.1)) parts.push(this.#frame({}));
        return [...parts, this.#frame({ opcode: 0, payload: Buffer.alloc(this.below(300), 0x63) })];
      }
      case 5:
        return [this.#frame({ masked: !this.#masked })];
      case 6:
        return [this.#frame({ reserved: 1 + this.below(7) })];
      case 7:
        return [this.#frame({ opcode: [3, 4, 5, 6, 7, 11, 15, 0][this.below(8)]! })];
      case 8:
        return [this.#frame({ payload: Buffer.alloc(MAX_PAYLOAD + 1 + this.below(70_000), 0x64) })];
      // A control frame that is too long, or in parts.
      case 9:
        return [
          this.#frame({ opcode: 8 + this.below(3), fin: this.chance(0.5), payload: Buffer.alloc(126) }),
        ];
      // A length in more bytes than it takes.
      default:
        return [this.#frame({ lengthBytes: this.chance(0.5) ? 2 : 8 })];
    }
  }
}
