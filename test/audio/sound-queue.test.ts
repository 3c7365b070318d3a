// Sound that waits, in whatever pieces it comes and goes; and that its memory is used again.
import fc from 'fast-check';
import t from 'tap';
import { SoundQueue } from '../../audio/sound-queue.ts';
import { RUNS, SEED } from '../bridge/seed.ts';

/** The stream counts its bytes modulo 251, so that every place can be told. */
const stream = (from: number, length: number) =>
  Buffer.from(Array.from({ length }, (_, i) => (from + i) % 251));

t.test('whatever is put in comes out once, in order', async (t) => {
  const size = fc.oneof(fc.nat(500), fc.nat(20_000), fc.constantFrom(160, 4_096, 8_192, 16_384));
  const act = fc.record({ verb: fc.constantFrom('push', 'take', 'copy', 'drop', 'clear'), size, from: size });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const queue = new SoundQueue();
      let given = 0;
      let plain = Buffer.alloc(0);
      for (const { verb, size, from } of acts) {
        const out = Buffer.alloc(size + 7);
        switch (verb) {
          case 'push':
            queue.push(stream(given, size));
            plain = Buffer.concat([plain, stream(given, size)]);
            given += size;
            break;
          case 'take': {
            const count = queue.take(out, 7, size);
            if (!out.subarray(7, 7 + count).equals(plain.subarray(0, size))) return false;
            plain = plain.subarray(count);
            break;
          }
          case 'copy': {
            const count = queue.copy(out, 7, from, size);
            if (!out.subarray(7, 7 + count).equals(plain.subarray(from, from + size))) return false;
            break;
          }
          case 'drop':
            queue.drop(size);
            plain = plain.subarray(size);
            break;
          default:
            queue.clear();
            plain = Buffer.alloc(0);
        }
        if (queue.length !== plain.length || !queue.bytes().equals(plain)) return false;
      }
      return true;
    }),
    { seed: SEED, numRuns: 500 * RUNS },
  );
  t.pass(`seed ${SEED}`);
});

t.test('two queues never share what waits in them', async (t) => {
  const queues = [new SoundQueue(), new SoundQueue()];
  const out = Buffer.alloc(9_000);
  for (let round = 0; round < 20; round++) {
    for (const [i, queue] of queues.entries()) queue.push(Buffer.alloc(9_000, round * 2 + i));
    const [first, second] = queues as [SoundQueue, SoundQueue];
    first.take(out, 0, 9_000);
    first.push(Buffer.alloc(9_000, 0xee));
    t.ok(second.bytes().every((byte) => byte === round * 2 + 1));
    first.clear();
    second.clear();
  }
});

t.test('sound that comes and goes takes no new memory', async (t) => {
  const { allocUnsafeSlow } = Buffer;
  let made = 0;
  t.teardown(() => {
    Buffer.allocUnsafeSlow = allocUnsafeSlow;
  });
  Buffer.allocUnsafeSlow = (size) => {
    made++;
    return allocUnsafeSlow(size);
  };
  const delta = Buffer.alloc(1_600);
  const frame = Buffer.alloc(160);
  const queues = Array.from({ length: 10 }, () => new SoundQueue());
  function speak(): void {
    for (const queue of queues) for (let n = 0; n < 15; n++) queue.push(delta);
    for (const [i, queue] of queues.entries()) {
      // Some are heard to their end, some are cut.
      for (let n = 0; n < 150 && (i % 3 > 0 || n < 40); n++) queue.take(frame, 0, 160);
      queue.clear();
    }
  }
  speak();
  const once = made;
  for (let n = 0; n < 100; n++) speak();
  t.equal(made, once);
});
