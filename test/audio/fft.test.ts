// The transform against its definition.
import t from 'tap';
import { Fft } from '../../audio/fft.ts';
import { seeded } from '../random.ts';

t.test('every frequency of any samples is as its definition has it', async (t) => {
  const random = seeded(7);
  for (const size of [2, 8, 256]) {
    const samples = Float64Array.from({ length: size }, () => random() - 0.5);
    const [re, im] = [Float64Array.from(samples), new Float64Array(size)];
    const fft = new Fft(size);
    for (let again = 0; again < 2; again++) {
      re.set(samples);
      im.fill(0);
      fft.transform(re, im);
    }
    for (let k = 0; k < size; k++) {
      let [real, imaginary] = [0, 0];
      for (let n = 0; n < size; n++) {
        real += samples[n]! * Math.cos((2 * Math.PI * k * n) / size);
        imaginary -= samples[n]! * Math.sin((2 * Math.PI * k * n) / size);
      }
      t.ok(Math.hypot(re[k]! - real, im[k]! - imaginary) < 1e-9, `${k} of ${size}`);
    }
  }
});
