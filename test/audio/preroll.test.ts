// The last half second of a stream, whatever came before it.
import t from 'tap';
import { bytesPerMs, MULAW_8K } from '../../audio/format.ts';
import { Preroll } from '../../audio/preroll.ts';

/** The stream counts its bytes modulo 251, so that every place can be told. */
const stream = (from: number, length: number) => Uint8Array.from({ length }, (_, i) => (from + i) % 251);

t.test('nothing heard -> nothing to read', async (t) => {
  t.same(new Preroll(MULAW_8K, 500).read(500), Buffer.alloc(0));
});

t.test(
  'the newest ms come back in order, however they were pushed and wherever the ring turns',
  async (t) => {
    for (const sizes of [[160], [7, 160, 0, 333], [4000], [4001], [9000]]) {
      const preroll = new Preroll(MULAW_8K, 500);
      let position = 0;
      for (let turn = 0; turn < 60; turn++) {
        const size = sizes[turn % sizes.length]!;
        preroll.push(stream(position, size));
        position += size;
        for (const ms of [0, 1, 20, 300, 500, 900]) {
          const length = Math.min(ms * 8, 4000, position);
          const found = preroll.read(ms);
          if (Buffer.compare(found, stream(position - length, length)) !== 0)
            t.fail(`${sizes}, ${position}, ${ms} ms`);
        }
      }
      t.equal(preroll.availableMs, 500);
    }
  },
);

t.test('what was read stays as it was, whatever comes', async (t) => {
  const preroll = new Preroll(MULAW_8K, 20);
  preroll.push(stream(0, 160));
  const read = preroll.read(20);
  preroll.push(stream(160, 160));
  t.same([...read], [...stream(0, 160)]);
});

t.test('clear forgets', async (t) => {
  const preroll = new Preroll(MULAW_8K, 500);
  preroll.push(stream(0, 1000));
  preroll.clear();
  t.equal(preroll.availableMs, 0);
  preroll.push(stream(7, 80));
  t.same([...preroll.read(500)], [...stream(7, 80)]);
});

t.test('of wider samples too none is cut in two, whatever time is asked for', async (t) => {
  for (const rateHz of [8000, 16000, 24000] as const) {
    const format = { encoding: 'pcm16', rateHz } as const;
    const preroll = new Preroll(format, 100);
    preroll.push(stream(0, 77 * bytesPerMs(format)));
    t.equal(preroll.availableMs, 77);
    for (const ms of [0.01, 0.03, 1.37, 20.03125, 76.99, 500]) {
      const found = preroll.read(ms);
      t.equal(found.length % 2, 0, `${ms} ms`);
      t.ok(Math.abs(found.length - Math.min(ms, 77) * bytesPerMs(format)) <= 1, `${found.length} bytes`);
      t.same([...found], [...stream(77 * bytesPerMs(format) - found.length, found.length)]);
    }
  }
});
