// What tests that draw at random draw from: another one each run, told where a run fails; EXPLORE_SEED repeats it. Cases that
// have failed once stay in their test, as examples.

/** Whole and positive. */
export const SEED = Number(process.env.EXPLORE_SEED ?? Math.floor(Math.random() * 0x7fff_ffff));
/** How many times as much as usual is drawn, for campaigns. */
export const RUNS = Number(process.env.EXPLORE_RUNS ?? 1);
