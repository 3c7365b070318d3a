// PURE. Least squares where the equations hang on distances alone, as those of sound with a delayed self do.

/** Unknowns at most. */
const MOST = 128;
/** One system is solved at a time. */
const PREDICTOR = new Float64Array(MOST);
const BACKWARD = new Float64Array(MOST);

/**
 * Fills `out` with the taps of a filter by Levinson's recursion, as many as `out` has.
 * @param auto the sound's correlation with itself by distance @param cross with what the filter is to make of it, by tap
 * @param ridge of the energy: what keeps taps small for which there is nothing to go by
 */
export function solveTaps(auto: Float64Array, cross: Float64Array, out: Float64Array, ridge: number): void {
  const taps = out.length;
  let error = auto[0]! * (1 + ridge);
  if (error <= 0) {
    out.fill(0);
    return;
  }
  out[0] = cross[0]! / error;
  for (let m = 1; m < taps; m++) {
    let ahead = auto[m]!;
    for (let i = 1; i < m; i++) ahead += PREDICTOR[i]! * auto[m - i]!;
    const reflection = -ahead / error;
    for (let i = 1; i < m; i++) BACKWARD[i] = PREDICTOR[m - i]!;
    for (let i = 1; i < m; i++) PREDICTOR[i] = PREDICTOR[i]! + reflection * BACKWARD[i]!;
    PREDICTOR[m] = reflection;
    error *= 1 - reflection * reflection;
    let missing = cross[m]!;
    for (let i = 0; i < m; i++) missing -= out[i]! * auto[m - i]!;
    const share = missing / error;
    // The predictor turned round; its newest weight is 1.
    for (let i = 1; i <= m; i++) out[m - i] = out[m - i]! + share * PREDICTOR[i]!;
    out[m] = share;
  }
}
