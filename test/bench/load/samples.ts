// Measured values, kept one by one; and the clock that all processes of the bench share.

/** Milliseconds of the host's monotonic clock: the same in every process. */
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();
export const clockMs = (): number => performance.now() + OFFSET_MS;

export interface Summary {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

export class Samples {
  #values = new Float64Array(4_096);
  #count = 0;

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#count * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count++] = value;
  }

  clear(): void {
    this.#count = 0;
  }

  summary(): Summary {
    const sorted = this.#values.slice(0, this.#count).sort();
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
    return { count: this.#count, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? Number.NaN };
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
