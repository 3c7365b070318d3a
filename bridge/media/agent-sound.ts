// What the model says, in mu-law: as it comes where it comes so, converted where it does not.
import { type Converter, createConverter } from '../../audio/converter.ts';
import { MULAW_8K } from '../../audio/format.ts';
import type { ModelSession } from '../models/model.ts';

export class AgentSound {
  readonly #fromModel: Converter;
  #itemId = '';

  constructor(model: Pick<ModelSession, 'gives'>) {
    this.#fromModel = createConverter(model.gives, MULAW_8K);
  }

  /** The next sound of an item, valid until the next call. Nothing of one item sounds in another. */
  mulaw(itemId: string, payload: Buffer): Buffer {
    if (itemId !== this.#itemId) this.#fromModel.restart();
    this.#itemId = itemId;
    return this.#fromModel.convert(payload);
  }
}
