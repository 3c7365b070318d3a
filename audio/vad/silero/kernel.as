// Silero's voice model of the fifth and sixth generation at 8 kHz, for WebAssembly SIMD: windows of mu-law in, probabilities
// of speech out, the memory of every call kept here. AssemblyScript; `npm run build:detector` makes relaxed.wasm and
// plain.wasm of it. The weights come from the model's file (weights.ts, in the order of the constants below).
//
// A window is 256 samples behind 32 of context, made 320 by 32 mirrored ones:
//   4 positions of 128 samples, 64 apart -> their spectrum's 65 magnitudes
//   -> convolutions over 3 positions: 65 to 128, 128 to 64 (every second), 64 to 64 (every second), 64 to 128
//   -> one step of an LSTM of 128 -> the sum of its positive outputs, weighed -> a probability
// Windows are worked on in twos: each weight that is loaded is used for both. One that is left over is done by itself with as
// many sums under way, so that a window costs about as much in any run; four at once were slower, by a third. What a
// convolution would multiply with the zeros around a window is left out.

// The host's side of the memory. Addresses in bytes, the weights in floats.
export const ROWS: i32 = 64;
export const ROW_BYTES: i32 = 288;
export const MEMORY_FLOATS: i32 = 256;
/** The first 1,024 bytes are the compiler's. */
export const WEIGHTS: usize = 1024;

// Matrices in panels of 8 columns, a panel's rows one after the other. Convolutions: a row per position and channel; the first
// has two rows of zeros more, because depths are multiples of four.
const CONV_0: usize = WEIGHTS;
const CONV_1: usize = CONV_0 + 4 * 197 * 128;
const CONV_2: usize = CONV_1 + 4 * 384 * 64;
const CONV_3: usize = CONV_2 + 4 * 128 * 64;
const LSTM: usize = CONV_3 + 4 * 64 * 128;
const CONV_0_BIAS: usize = LSTM + 4 * 256 * 512;
const CONV_1_BIAS: usize = CONV_0_BIAS + 4 * 128;
const CONV_2_BIAS: usize = CONV_1_BIAS + 4 * 64;
const CONV_3_BIAS: usize = CONV_2_BIAS + 4 * 64;
const LSTM_BIAS: usize = CONV_3_BIAS + 4 * 128;
const DECODER: usize = LSTM_BIAS + 4 * 512;
const WINDOW: usize = DECODER + 4 * 128;
/** e^(-2 pi i k / 64) and / 128: real parts, then imaginary. */
const TURN_64: usize = WINDOW + 4 * 128;
const TURN_64_I: usize = TURN_64 + 4 * 32;
const TURN_128: usize = TURN_64_I + 4 * 32;
const TURN_128_I: usize = TURN_128 + 4 * 33;
const DECODER_BIAS: usize = TURN_128_I + 4 * 33;
export const WEIGHT_FLOATS: i32 = 198531;

/** The sample of each mu-law code. */
export const SAMPLES: usize = 795200;
/** The windows of a run. */
export const CODES: usize = SAMPLES + 4 * 256;
/** Which memory each row has. */
export const MEMORY_OF_ROW: usize = CODES + 64 * 288;
export const PROBABILITIES: usize = MEMORY_OF_ROW + 4 * 64;

// Ours. A window's samples; the transform's values, a position in each of the four lanes.
const SOUND: usize = PROBABILITIES + 4 * 64;
const REAL: usize = SOUND + 4 * 320;
const IMAGINARY: usize = REAL + 16 * 64;
// Of each of four windows what it is worked on in, so that each matrix is gone through for all four.
/** 4 positions of 65, and 4 zeros that nothing is written over. */
const MAGNITUDES: usize = IMAGINARY + 16 * 64;
const LAYER_0: usize = MAGNITUDES + 4 * 4 * 264;
const LAYER_1: usize = LAYER_0 + 4 * 4 * 512;
const LAYER_2: usize = LAYER_1 + 4 * 4 * 128;
/** What the LSTM is given: 128 of the last convolution, 128 of its own last output. */
const LSTM_IN: usize = LAYER_2 + 4 * 4 * 64;
const GATES: usize = LSTM_IN + 4 * 4 * 256;
/** A call's memory: the LSTM's last output, then its cell, 128 each. To the memory's end. */
export const MEMORIES: usize = GATES + 4 * 4 * 512;

/** Bytes of a row in a panel. */
const ROW: usize = 32;
const ANY: f32 = -Infinity;

/** The host has written `rows` windows and their memories: answers them. */
export function run(rows: i32): void {
  for (let first = 0; first < rows; first += 4) answer(first, rows - first < 4 ? rows - first : 4);
}

/** Up to four windows. */
function answer(first: i32, count: i32): void {
  for (let i = 0; i < count; i++) {
    const window = <usize>i;
    spectrum(CODES + <usize>((first + i) * ROW_BYTES), MAGNITUDES + window * (4 * 264));
    const output = LSTM_IN + window * (4 * 256) + 4 * 128;
    const memory = memoryOf(first + i);
    for (let at: usize = 0; at < 4 * 128; at += 16) v128.store(output + at, v128.load(memory + at));
  }
  // Position by position: the first and the last have no neighbour on one side.
  conv0(count, MAGNITUDES, 4 * 132, CONV_0 + 65 * ROW, LAYER_0);
  conv0(count, MAGNITUDES, 4 * 196, CONV_0, LAYER_0 + 4 * 128);
  conv0(count, MAGNITUDES + 4 * 65, 4 * 196, CONV_0, LAYER_0 + 4 * 256);
  conv0(count, MAGNITUDES + 4 * 130, 4 * 132, CONV_0, LAYER_0 + 4 * 384);
  conv1(count, LAYER_0, 4 * 256, CONV_1 + 128 * ROW, LAYER_1);
  conv1(count, LAYER_0 + 4 * 128, 4 * 384, CONV_1, LAYER_1 + 4 * 64);
  layer(count, LAYER_1, 4 * 128, 4 * 128, CONV_2, 128 * ROW, CONV_2_BIAS, 64, LAYER_2, 4 * 64, 0);
  layer(count, LAYER_2, 4 * 64, 4 * 64, CONV_3, 64 * ROW, CONV_3_BIAS, 128, LSTM_IN, 4 * 256, 0);
  layer(count, LSTM_IN, 4 * 256, 4 * 256, LSTM, 256 * ROW, LSTM_BIAS, 512, GATES, 4 * 512, ANY);
  for (let i = 0; i < count; i++) {
    const probability = step(GATES + <usize>i * (4 * 512), memoryOf(first + i));
    store<f32>(<usize>(first + i) << 2, probability, PROBABILITIES);
  }
}

function memoryOf(row: i32): usize {
  return MEMORIES + <usize>load<u32>(<usize>row << 2, MEMORY_OF_ROW) * (4 * 256);
}

function conv0(count: i32, rows: usize, depth: usize, weights: usize, out: usize): void {
  layer(count, rows, 4 * 264, depth, weights, 197 * ROW, CONV_0_BIAS, 128, out, 4 * 512, 0);
}

function conv1(count: i32, rows: usize, depth: usize, weights: usize, out: usize): void {
  layer(count, rows, 4 * 512, depth, weights, 384 * ROW, CONV_1_BIAS, 64, out, 4 * 128, 0);
}

/**
 * A row of each of up to four windows, `apart` bytes from one to the next, times a matrix of `columns`, plus bias, not below
 * `least`. `depth`: bytes of a row. `panel`: bytes from a panel of the matrix to the next.
 */
function layer(
  count: i32, rows: usize, apart: usize, depth: usize, weights: usize, panel: usize, bias: usize,
  columns: usize, out: usize, outApart: usize, least: f32,
): void {
  let left = count;
  for (; left > 1; left -= 2) {
    twoRows(rows, apart, depth, weights, panel, bias, columns, out, outApart, least);
    rows += 2 * apart;
    out += 2 * outApart;
  }
  if (left > 0) oneRow(rows, depth, weights, panel, bias, columns, out, least);
}

// A fused multiply and add may round once or twice, by the processor: all that `relaxed` leaves open.
@inline
function madd(x: v128, y: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(x, y, sum);
  return f32x4.add(f32x4.mul(x, y), sum);
}

// Both of the below have eight vectors of sums under way: as many as it takes to hide how long an addition lasts, and as
// fit into sixteen registers beside what is loaded.

/** Two rows, 16 columns at a time. */
function twoRows(
  a: usize, apart: usize, depth: usize, weights: usize, panel: usize, bias: usize,
  columns: usize, out: usize, outApart: usize, least: f32,
): void {
  const floor = f32x4.splat(least);
  const b = a + apart;
  for (let n: usize = 0; n < columns; n += 16) {
    let a0 = v128.load(bias), a1 = v128.load(bias, 16), a2 = v128.load(bias, 32), a3 = v128.load(bias, 48);
    let b0 = a0, b1 = a1, b2 = a2, b3 = a3;
    let w = weights, z = w + panel;
    for (let k: usize = 0; k < depth; k += 8) {
      const pa = a + k, pb = b + k;
      let x = v128.load32_splat(pa), y = v128.load32_splat(pb), u = v128.load(w);
      a0 = madd(x, u, a0); b0 = madd(y, u, b0); u = v128.load(w, 16);
      a1 = madd(x, u, a1); b1 = madd(y, u, b1); u = v128.load(z);
      a2 = madd(x, u, a2); b2 = madd(y, u, b2); u = v128.load(z, 16);
      a3 = madd(x, u, a3); b3 = madd(y, u, b3);
      x = v128.load32_splat(pa, 4); y = v128.load32_splat(pb, 4); u = v128.load(w, 32);
      a0 = madd(x, u, a0); b0 = madd(y, u, b0); u = v128.load(w, 48);
      a1 = madd(x, u, a1); b1 = madd(y, u, b1); u = v128.load(z, 32);
      a2 = madd(x, u, a2); b2 = madd(y, u, b2); u = v128.load(z, 48);
      a3 = madd(x, u, a3); b3 = madd(y, u, b3);
      w += 64;
      z += 64;
    }
    const to = out + (n << 2), next = to + outApart;
    v128.store(to, f32x4.max(a0, floor)); v128.store(to, f32x4.max(a1, floor), 16);
    v128.store(to, f32x4.max(a2, floor), 32); v128.store(to, f32x4.max(a3, floor), 48);
    v128.store(next, f32x4.max(b0, floor)); v128.store(next, f32x4.max(b1, floor), 16);
    v128.store(next, f32x4.max(b2, floor), 32); v128.store(next, f32x4.max(b3, floor), 48);
    weights += 2 * panel;
    bias += 64;
  }
}

/** One row, 32 columns at a time. */
function oneRow(
  a: usize, depth: usize, weights: usize, panel: usize, bias: usize, columns: usize, out: usize, least: f32,
): void {
  const floor = f32x4.splat(least);
  for (let n: usize = 0; n < columns; n += 32) {
    let s0 = v128.load(bias), s1 = v128.load(bias, 16), s2 = v128.load(bias, 32), s3 = v128.load(bias, 48);
    let s4 = v128.load(bias, 64), s5 = v128.load(bias, 80), s6 = v128.load(bias, 96), s7 = v128.load(bias, 112);
    let w = weights, p1 = w + panel, p2 = p1 + panel, p3 = p2 + panel;
    for (let k: usize = 0; k < depth; k += 8) {
      const pa = a + k;
      let x = v128.load32_splat(pa);
      s0 = madd(x, v128.load(w), s0); s1 = madd(x, v128.load(w, 16), s1);
      s2 = madd(x, v128.load(p1), s2); s3 = madd(x, v128.load(p1, 16), s3);
      s4 = madd(x, v128.load(p2), s4); s5 = madd(x, v128.load(p2, 16), s5);
      s6 = madd(x, v128.load(p3), s6); s7 = madd(x, v128.load(p3, 16), s7);
      x = v128.load32_splat(pa, 4);
      s0 = madd(x, v128.load(w, 32), s0); s1 = madd(x, v128.load(w, 48), s1);
      s2 = madd(x, v128.load(p1, 32), s2); s3 = madd(x, v128.load(p1, 48), s3);
      s4 = madd(x, v128.load(p2, 32), s4); s5 = madd(x, v128.load(p2, 48), s5);
      s6 = madd(x, v128.load(p3, 32), s6); s7 = madd(x, v128.load(p3, 48), s7);
      w += 64; p1 += 64; p2 += 64; p3 += 64;
    }
    const to = out + (n << 2);
    v128.store(to, f32x4.max(s0, floor)); v128.store(to, f32x4.max(s1, floor), 16);
    v128.store(to, f32x4.max(s2, floor), 32); v128.store(to, f32x4.max(s3, floor), 48);
    v128.store(to, f32x4.max(s4, floor), 64); v128.store(to, f32x4.max(s5, floor), 80);
    v128.store(to, f32x4.max(s6, floor), 96); v128.store(to, f32x4.max(s7, floor), 112);
    weights += 4 * panel;
    bias += 128;
  }
}

/** The magnitudes of a window's four positions, all four at once: a real transform of 128 by a complex one of 64. */
function spectrum(codes: usize, out: usize): void {
  for (let i: usize = 0; i < 288; i++)
    store<f32>(i << 2, load<f32>(<usize>load<u8>(codes + i) << 2, SAMPLES), SOUND);
  for (let i: usize = 0; i < 32; i++)
    store<f32>((288 + i) << 2, load<f32>((286 - i) << 2, SOUND), SOUND);
  // Even samples are the real parts, odd ones the imaginary, in the order that lets the stages go in place.
  for (let n: usize = 0; n < 64; n++) {
    const at = n << 3;
    let even = v128.load32_zero(at, SOUND);
    even = v128.load32_lane(at, even, 1, SOUND + 4 * 64);
    even = v128.load32_lane(at, even, 2, SOUND + 4 * 128);
    even = v128.load32_lane(at, even, 3, SOUND + 4 * 192);
    let odd = v128.load32_zero(at, SOUND + 4);
    odd = v128.load32_lane(at, odd, 1, SOUND + 4 * 65);
    odd = v128.load32_lane(at, odd, 2, SOUND + 4 * 129);
    odd = v128.load32_lane(at, odd, 3, SOUND + 4 * 193);
    const to = reversed(n) << 4;
    v128.store(to, f32x4.mul(even, v128.load32_splat(at, WINDOW)), REAL);
    v128.store(to, f32x4.mul(odd, v128.load32_splat(at, WINDOW + 4)), IMAGINARY);
  }
  twoStages();
  for (let half: usize = 16 * 4; half < 16 * 64; half <<= 1) stage(half);
  magnitudes(out);
}

/** The six bits of a place in the opposite order. */
@inline
function reversed(n: usize): usize {
  return ((n & 1) << 5) | ((n & 2) << 3) | ((n & 4) << 1) | ((n & 8) >> 1) | ((n & 16) >> 3) | ((n & 32) >> 5);
}

/** The first two stages, which turn by quarters only. */
function twoStages(): void {
  for (let at: usize = 0; at < 16 * 64; at += 64) {
    const r0 = v128.load(at, REAL), r1 = v128.load(at, REAL + 16);
    const r2 = v128.load(at, REAL + 32), r3 = v128.load(at, REAL + 48);
    const i0 = v128.load(at, IMAGINARY), i1 = v128.load(at, IMAGINARY + 16);
    const i2 = v128.load(at, IMAGINARY + 32), i3 = v128.load(at, IMAGINARY + 48);
    const ar = f32x4.add(r0, r1), ai = f32x4.add(i0, i1), br = f32x4.sub(r0, r1), bi = f32x4.sub(i0, i1);
    const cr = f32x4.add(r2, r3), ci = f32x4.add(i2, i3), dr = f32x4.sub(r2, r3), di = f32x4.sub(i2, i3);
    v128.store(at, f32x4.add(ar, cr), REAL);
    v128.store(at, f32x4.add(ai, ci), IMAGINARY);
    v128.store(at, f32x4.add(br, di), REAL + 16);
    v128.store(at, f32x4.sub(bi, dr), IMAGINARY + 16);
    v128.store(at, f32x4.sub(ar, cr), REAL + 32);
    v128.store(at, f32x4.sub(ai, ci), IMAGINARY + 32);
    v128.store(at, f32x4.sub(br, di), REAL + 48);
    v128.store(at, f32x4.add(bi, dr), IMAGINARY + 48);
  }
}

/** One stage; what meets lies `half` bytes apart. */
function stage(half: usize): void {
  // 32 turns of a float each over the whole of the last stage, 16 * 32 bytes: every second, fourth, eighth before it.
  const turnStep = (4 * 16 * 32) / half;
  let turn: usize = 0;
  for (let first: usize = 0; first < half; first += 16) {
    const turnR = v128.load32_splat(turn, TURN_64), turnI = v128.load32_splat(turn, TURN_64_I);
    turn += turnStep;
    for (let at = first; at < 16 * 64; at += half << 1) {
      const other = at + half;
      const r = v128.load(other, REAL), i = v128.load(other, IMAGINARY);
      const tr = f32x4.sub(f32x4.mul(r, turnR), f32x4.mul(i, turnI));
      const ti = madd(r, turnI, f32x4.mul(i, turnR));
      const ur = v128.load(at, REAL), ui = v128.load(at, IMAGINARY);
      v128.store(other, f32x4.sub(ur, tr), REAL);
      v128.store(other, f32x4.sub(ui, ti), IMAGINARY);
      v128.store(at, f32x4.add(ur, tr), REAL);
      v128.store(at, f32x4.add(ui, ti), IMAGINARY);
    }
  }
}

/** Takes the two halves of the complex transform apart: the real one's frequencies k and 64 - k, and how large they are. */
function magnitudes(out: usize): void {
  const half = f32x4.splat(0.5);
  for (let k: usize = 0; k <= 32; k++) {
    const p = k << 4, q = ((64 - k) & 63) << 4;
    const pr = v128.load(p, REAL), pi = v128.load(p, IMAGINARY);
    const qr = v128.load(q, REAL), qi = v128.load(q, IMAGINARY);
    const evenR = f32x4.mul(half, f32x4.add(pr, qr)), evenI = f32x4.mul(half, f32x4.sub(pi, qi));
    const oddR = f32x4.mul(half, f32x4.add(pi, qi)), oddI = f32x4.mul(half, f32x4.sub(qr, pr));
    const turnR = v128.load32_splat(k << 2, TURN_128), turnI = v128.load32_splat(k << 2, TURN_128_I);
    const tr = f32x4.sub(f32x4.mul(oddR, turnR), f32x4.mul(oddI, turnI));
    const ti = madd(oddR, turnI, f32x4.mul(oddI, turnR));
    spread(out + (k << 2), f32x4.add(evenR, tr), f32x4.add(evenI, ti));
    spread(out + ((64 - k) << 2), f32x4.sub(evenR, tr), f32x4.sub(evenI, ti));
  }
}

/** One frequency's magnitudes, each to its position. */
@inline
function spread(to: usize, r: v128, i: v128): void {
  const size = f32x4.sqrt(madd(r, r, f32x4.mul(i, i)));
  v128.store32_lane(to, size, 0);
  v128.store32_lane(to, size, 1, 4 * 65);
  v128.store32_lane(to, size, 2, 4 * 130);
  v128.store32_lane(to, size, 3, 4 * 195);
}

/** A step of the LSTM from its gates' sums (in, forget, cell, out); the probability that its output means. */
function step(gates: usize, memory: usize): f32 {
  const none = f32x4.splat(0);
  let sum = none;
  for (let at: usize = 0; at < 4 * 128; at += 16) {
    const take = logistic(v128.load(gates + at)), keep = logistic(v128.load(gates + at, 4 * 128));
    const fresh = tangent(v128.load(gates + at, 4 * 256)), show = logistic(v128.load(gates + at, 4 * 384));
    const cell = madd(keep, v128.load(memory + at, 4 * 128), f32x4.mul(take, fresh));
    const output = f32x4.mul(show, tangent(cell));
    v128.store(memory + at, cell, 4 * 128);
    v128.store(memory + at, output);
    sum = madd(f32x4.max(output, none), v128.load(at, DECODER), sum);
  }
  const total =
    f32x4.extract_lane(sum, 0) + f32x4.extract_lane(sum, 1) + f32x4.extract_lane(sum, 2) + f32x4.extract_lane(sum, 3);
  return f32x4.extract_lane(logistic(f32x4.splat(total + load<f32>(DECODER_BIAS))), 0);
}

@inline
function logistic(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, power(f32x4.neg(x))));
}

@inline
function tangent(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.sub(one, f32x4.div(f32x4.splat(2), f32x4.add(power(f32x4.add(x, x)), one)));
}

/** e^x: 2 to the whole part of x / ln 2 by the exponent's bits, to the rest by a polynomial (within 2 in 10^7). */
function power(x: v128): v128 {
  const bounded = f32x4.min(f32x4.max(x, f32x4.splat(-87)), f32x4.splat(88));
  const exponent = f32x4.mul(bounded, f32x4.splat(1.44269504));
  const whole = f32x4.nearest(exponent);
  const rest = f32x4.sub(exponent, whole);
  let sum = f32x4.splat(1.5403530e-4);
  sum = madd(sum, rest, f32x4.splat(1.3333558e-3));
  sum = madd(sum, rest, f32x4.splat(9.6181291e-3));
  sum = madd(sum, rest, f32x4.splat(5.5504109e-2));
  sum = madd(sum, rest, f32x4.splat(2.4022651e-1));
  sum = madd(sum, rest, f32x4.splat(6.9314718e-1));
  sum = madd(sum, rest, f32x4.splat(1));
  const scale = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(whole), i32x4.splat(127)), 23);
  return f32x4.mul(sum, scale);
}
