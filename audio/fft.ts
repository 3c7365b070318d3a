// PURE. The discrete Fourier transform of a power of two of samples, in place.

export class Fft {
  readonly size: number;
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  /** Where each sample goes before the first round: its place with the bits the other way round. */
  readonly #reversed: Uint16Array;

  /** @param size a power of two */
  constructor(size: number) {
    this.size = size;
    this.#cos = Float64Array.from({ length: size / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / size));
    this.#sin = Float64Array.from({ length: size / 2 }, (_, i) => -Math.sin((2 * Math.PI * i) / size));
    this.#reversed = new Uint16Array(size);
    for (let i = 1; i < size; i++)
      this.#reversed[i] = (this.#reversed[i >> 1]! >> 1) | (i % 2 === 1 ? size >> 1 : 0);
  }

  /** Real and imaginary parts, `size` of each, become those of the frequencies. */
  transform(re: Float64Array, im: Float64Array): void {
    const { size } = this;
    const reversed = this.#reversed;
    for (let i = 0; i < size; i++) {
      const j = reversed[i]!;
      if (j <= i) continue;
      const [real, imaginary] = [re[i]!, im[i]!];
      re[i] = re[j]!;
      im[i] = im[j]!;
      re[j] = real;
      im[j] = imaginary;
    }
    const cos = this.#cos;
    const sin = this.#sin;
    for (let half = 1; half < size; half *= 2) {
      const step = size / (2 * half);
      for (let from = 0; from < size; from += 2 * half) {
        for (let i = 0, turn = 0; i < half; i++, turn += step) {
          const one = from + i;
          const other = one + half;
          const real = re[other]! * cos[turn]! - im[other]! * sin[turn]!;
          const imaginary = re[other]! * sin[turn]! + im[other]! * cos[turn]!;
          re[other] = re[one]! - real;
          im[other] = im[one]! - imaginary;
          re[one]! += real;
          im[one]! += imaginary;
        }
      }
    }
  }
}
