// What the model says, in what the line takes: as it comes where it comes so, converted where it does not.
import { type Converter, createConverter } from '../../audio/converter.ts';
import type { AudioFormat } from '../../audio/format.ts';
import type { ModelSession } from '../models/model.ts';

export class AgentSound {
  readonly #toLine: Converter;
  #itemId = '';

  /** @param format what the line takes */
  constructor(model: Pick<ModelSession, 'gives'>, format: AudioFormat) {
    this.#toLine = createConverter(model.gives, format);
  }

  /** The next sound of an item, valid until the next call. Nothing of one item sounds in another. */
  forLine(itemId: string, payload: Buffer): Buffer {
    if (itemId !== this.#itemId) this.#toLine.restart();
    this.#itemId = itemId;
    return this.#toLine.convert(payload);
  }
}
