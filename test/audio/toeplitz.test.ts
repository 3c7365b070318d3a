// Least squares on sound with a delayed self, held against a filter that is known.
import t from 'tap';
import { solveTaps } from '../../audio/toeplitz.ts';
import { seeded } from '../random.ts';

t.test('the filter that a sound went through is found from correlations alone', async (t) => {
  const random = seeded(1);
  const taps = 24;
  const filter = Float64Array.from({ length: taps }, () => 2 * random() - 1);
  // Low sound, as speech is.
  let last = 0;
  const sound = Float64Array.from({ length: 40_000 }, () => {
    last = 0.9 * last + random() - 0.5;
    return last;
  });
  const made = sound.map((_, n) => filter.reduce((sum, tap, k) => sum + tap * (sound[n - k] ?? 0), 0));
  const correlation = (other: Float64Array) =>
    Float64Array.from({ length: taps }, (_, k) =>
      other.reduce((sum, sample, n) => sum + sample * (sound[n - k] ?? 0), 0),
    );
  const found = new Float64Array(taps);
  solveTaps(correlation(sound), correlation(made), found, 0);
  for (let k = 0; k < taps; k++) t.ok(Math.abs(found[k]! - filter[k]!) < 0.02, `tap ${k}`);
});

t.test('silence asks for no taps', async (t) => {
  const found = new Float64Array(4).fill(1);
  solveTaps(new Float64Array(4), new Float64Array(4), found, 0.01);
  t.same([...found], [0, 0, 0, 0]);
});
