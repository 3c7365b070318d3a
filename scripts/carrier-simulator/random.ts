// PURE. Seeded randomness, so that a run can be repeated. Ids never come from here: they must differ between runs.

export interface Random {
  /** [0, 1) */
  next(): number;
  between(range: readonly [number, number]): number;
  gaussian(): number;
  chance(probability: number): boolean;
  integer(below: number): number;
  pick<T>(items: readonly T[]): T;
}

/** mulberry32 over the seed, mixed with a stream number so that every call has its own sequence. */
export function createRandom(seed: number, stream = 0): Random {
  let state = (seed ^ Math.imul(stream + 1, 0x9e3779b1)) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: ([low, high]) => low + (high - low) * next(),
    gaussian: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    chance: (probability) => probability > 0 && next() < probability,
    integer: (below) => Math.floor(next() * below),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}
