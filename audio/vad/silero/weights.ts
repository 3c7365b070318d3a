// PURE. The weights of Silero's model at 8 kHz, out of its file, in the order and shape that the kernel reads them
// (kernel.as). A file whose constants have other names, shapes or another spectrum than the kernel works out is refused.
import { type Constant, type OnnxFile, readOnnx } from './onnx-file.ts';

/** The half of the graph for 8 kHz: the other branch is for 16. */
const BRANCH = 'If_0_else_branch__Inline_0__';

const SHAPES = {
  'stft.forward_basis_buffer': [130, 1, 128],
  'encoder.0.reparam_conv.weight': [128, 65, 3],
  'encoder.0.reparam_conv.bias': [128],
  'encoder.1.reparam_conv.weight': [64, 128, 3],
  'encoder.1.reparam_conv.bias': [64],
  'encoder.2.reparam_conv.weight': [64, 64, 3],
  'encoder.2.reparam_conv.bias': [64],
  'encoder.3.reparam_conv.weight': [128, 64, 3],
  'encoder.3.reparam_conv.bias': [128],
  'decoder.rnn.weight_ih': [512, 128],
  'decoder.rnn.weight_hh': [512, 128],
  'decoder.rnn.bias_ih': [512],
  'decoder.rnn.bias_hh': [512],
  'decoder.decoder.2.weight': [1, 128, 1],
  'decoder.decoder.2.bias': [1],
} as const;

type Name = keyof typeof SHAPES;
type Constants = (name: Name) => Float32Array;

/** Samples of a position, and its frequencies from 0 to 4 kHz. */
const POSITION = 128;
const FREQUENCIES = 65;
/** Columns of a matrix that lie together. */
const PANEL = 8;

/**
 * The weights as the kernel takes them.
 * @throws Error why the file is not the model that the kernel works out: a clause, for the message of whoever asked
 */
export function readWeights(
  file: Uint8Array,
  wanted: { readonly inputs: string; readonly outputs: string },
): Float32Array {
  const model = readOnnx(file);
  if (model.inputs.join() !== wanted.inputs || model.outputs.join() !== wanted.outputs)
    throw new Error(
      `it takes ${model.inputs.join() || 'nothing'} and gives ${model.outputs.join() || 'nothing'}`,
    );
  const constants = checked(model);
  const window = windowOf(constants('stft.forward_basis_buffer'));
  return packed(constants, window);
}

function checked({ constants }: OnnxFile): Constants {
  const found = new Map<Name, Constant>();
  for (const [name, shape] of Object.entries(SHAPES) as [Name, readonly number[]][]) {
    const constant = constants.get(BRANCH + name);
    if (constant === undefined) throw new Error(`it has no ${name}`);
    if (constant.shape.join() !== shape.join())
      throw new Error(`its ${name} is ${constant.shape.join(' x ')}, not ${shape.join(' x ')}`);
    // One of them, and a call's memory would be none for as long as it lasts.
    if (!constant.floats.every(Number.isFinite)) throw new Error(`its ${name} has what is no number`);
    found.set(name, constant);
  }
  return (name) => found.get(name)!.floats;
}

/**
 * The window of the spectrum. The model has it multiplied into cosines and sines, as the weights of a convolution; the
 * kernel transforms quickly instead, which is the same only while these are what they are said to be.
 */
function windowOf(basis: Float32Array): Float32Array {
  // The cosine of frequency 0 is 1.
  const window = basis.slice(0, POSITION);
  for (let k = 0; k < FREQUENCIES; k++) {
    for (let n = 0; n < POSITION; n++) {
      const angle = (2 * Math.PI * k * n) / POSITION;
      const real = basis[k * POSITION + n]! - window[n]! * Math.cos(angle);
      const imaginary = basis[(FREQUENCIES + k) * POSITION + n]! + window[n]! * Math.sin(angle);
      // Not `>`: what is no number is not near either.
      if (!(Math.abs(real) < 1e-6 && Math.abs(imaginary) < 1e-6))
        throw new Error('its spectrum is not a windowed Fourier transform');
    }
  }
  return window;
}

function packed(of: Constants, window: Float32Array): Float32Array {
  const [input, hidden] = [of('decoder.rnn.weight_ih'), of('decoder.rnn.weight_hh')];
  const second = of('decoder.rnn.bias_hh');
  const parts = [
    // Three positions of 65, and two rows of zeros: depths are multiples of four.
    panels(197, 128, convolution(of('encoder.0.reparam_conv.weight'), 65, 0)),
    panels(384, 64, convolution(of('encoder.1.reparam_conv.weight'), 128, 0)),
    // Its one position is the first of two: the tap before it meets zeros.
    panels(128, 64, convolution(of('encoder.2.reparam_conv.weight'), 64, 1)),
    // The one position there is: the taps on either side meet zeros.
    panels(64, 128, convolution(of('encoder.3.reparam_conv.weight'), 64, 1)),
    panels(256, 512, (row, column) =>
      row < 128 ? input[column * 128 + row]! : hidden[column * 128 + row - 128]!,
    ),
    of('encoder.0.reparam_conv.bias'),
    of('encoder.1.reparam_conv.bias'),
    of('encoder.2.reparam_conv.bias'),
    of('encoder.3.reparam_conv.bias'),
    of('decoder.rnn.bias_ih').map((bias, i) => bias + second[i]!),
    of('decoder.decoder.2.weight'),
    window,
    turns(64, 32),
    turns(128, 33),
    of('decoder.decoder.2.bias'),
  ];
  const all = new Float32Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

type Matrix = (row: number, column: number) => number;

/** Panel after panel, each row by row. */
function panels(rows: number, columns: number, matrix: Matrix): Float32Array {
  const all = new Float32Array(rows * columns);
  let at = 0;
  for (let panel = 0; panel < columns; panel += PANEL)
    for (let row = 0; row < rows; row++)
      for (let column = panel; column < panel + PANEL; column++) all[at++] = matrix(row, column);
  return all;
}

/** Weights of [to, from, 3 taps] as a matrix: rows by tap, beginning with `first`, then channel. */
function convolution(weights: Float32Array, channels: number, first: number): Matrix {
  return (row, column) => {
    const tap = first + Math.floor(row / channels);
    return tap < 3 ? weights[(column * channels + (row % channels)) * 3 + tap]! : 0;
  };
}

/** e^(-2 pi i k / of) of the first k: real parts, then imaginary. */
function turns(of: number, count: number): Float32Array {
  const angle = (k: number) => (2 * Math.PI * k) / of;
  return Float32Array.from({ length: 2 * count }, (_, i) =>
    i < count ? Math.cos(angle(i)) : -Math.sin(angle(i - count)),
  );
}
