// PURE. An ONNX file, read as far as a model's weights need it: what its graph takes and gives, and its constants of floats,
// those of the graphs inside it too. The format is Protocol Buffers (onnx.proto of github.com/onnx/onnx).

export interface Constant {
  readonly shape: readonly number[];
  readonly floats: Float32Array;
}

export interface OnnxFile {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** By the name that the graph has for their value. */
  readonly constants: ReadonlyMap<string, Constant>;
}

// Numbers of the fields that are read.
const MODEL = { graph: 7 };
const GRAPH = { node: 1, initializer: 5, input: 11, output: 12 };
const VALUE = { name: 1 };
const NODE = { output: 2, operation: 4, attribute: 5 };
const ATTRIBUTE = { tensor: 5, graph: 6 };
const TENSOR = { shape: 1, type: 2, name: 8, raw: 9 };
const FLOAT = 1;

type Field = readonly [number: number, value: Uint8Array | number];

/** @throws Error when the bytes are no such file */
export function readOnnx(bytes: Uint8Array): OnnxFile {
  const inputs: string[] = [];
  const outputs: string[] = [];
  const constants = new Map<string, Constant>();
  for (const graph of parts(bytes, MODEL.graph)) {
    for (const input of parts(graph, GRAPH.input)) inputs.push(textOf(input, VALUE.name));
    for (const output of parts(graph, GRAPH.output)) outputs.push(textOf(output, VALUE.name));
    readGraph(graph, constants);
  }
  return { inputs, outputs, constants };
}

function readGraph(graph: Uint8Array, constants: Map<string, Constant>): void {
  for (const tensor of parts(graph, GRAPH.initializer)) keep(textOf(tensor, TENSOR.name), tensor, constants);
  for (const node of parts(graph, GRAPH.node)) {
    const isConstant = textOf(node, NODE.operation) === 'Constant';
    for (const attribute of parts(node, NODE.attribute)) {
      if (isConstant)
        for (const tensor of parts(attribute, ATTRIBUTE.tensor))
          keep(textOf(node, NODE.output), tensor, constants);
      for (const inner of parts(attribute, ATTRIBUTE.graph)) readGraph(inner, constants);
    }
  }
}

function keep(name: string, tensor: Uint8Array, constants: Map<string, Constant>): void {
  const shape: number[] = [];
  let isFloats = false;
  let raw: Uint8Array | null = null;
  for (const [number, value] of fields(tensor)) {
    if (number === TENSOR.shape) shape.push(...(typeof value === 'number' ? [value] : numbers(value)));
    else if (number === TENSOR.type) isFloats = value === FLOAT;
    else if (number === TENSOR.raw && typeof value !== 'number') raw = value;
  }
  const size = shape.reduce((product, length) => product * length, 1);
  // Little-endian, as everything that Node runs on; a copy, because a view must begin at a multiple of four.
  if (isFloats && raw?.length === 4 * size)
    constants.set(name, { shape, floats: new Float32Array(new Uint8Array(raw).buffer) });
}

/** The parts of a message that are messages, texts or bytes, by their field's number. */
function* parts(message: Uint8Array, wanted: number): Generator<Uint8Array> {
  for (const [number, value] of fields(message))
    if (number === wanted && typeof value !== 'number') yield value;
}

function textOf(message: Uint8Array, wanted: number): string {
  for (const part of parts(message, wanted)) return new TextDecoder().decode(part);
  return '';
}

function* numbers(packed: Uint8Array): Generator<number> {
  const reader = new Reader(packed);
  while (!reader.ended) yield reader.number();
}

function* fields(message: Uint8Array): Generator<Field> {
  const reader = new Reader(message);
  while (!reader.ended) {
    const key = reader.number();
    const number = Math.floor(key / 8);
    switch (key % 8) {
      case 0:
        yield [number, reader.number()];
        break;
      case 1:
        yield [number, reader.bytes(8)];
        break;
      case 2:
        yield [number, reader.bytes(reader.number())];
        break;
      case 5:
        yield [number, reader.bytes(4)];
        break;
      default:
        throw new Error('it is no ONNX file');
    }
  }
}

class Reader {
  readonly #from: Uint8Array;
  #at = 0;

  constructor(from: Uint8Array) {
    this.#from = from;
  }

  get ended(): boolean {
    return this.#at >= this.#from.length;
  }

  /** Seven bits a byte, the lowest first; 64 at most. */
  number(): number {
    let value = 0;
    for (let unit = 1; unit < 2 ** 70; unit *= 128) {
      const byte = this.bytes(1)[0]!;
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
    throw new Error('it is no ONNX file');
  }

  bytes(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#from.length) throw new Error('it is no ONNX file, or cut short');
    const found = this.#from.subarray(this.#at, end);
    this.#at = end;
    return found;
  }
}
