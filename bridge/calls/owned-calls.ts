// Which calls this daemon owns: each has one object, the only writer of its row. Knows nothing else of them.
import type { CallRecord } from '../../storage/records.ts';
import type { Call } from './call.ts';

export class OwnedCalls {
  readonly #owned = new Map<string, Call>();
  /** Not owned, and something late is being written of them. */
  readonly #visited = new Map<string, Call>();

  get size(): number {
    return this.#owned.size;
  }

  /** As they are now: more may come, and some go, while they are gone through. */
  all(): Call[] {
    return [...this.#owned.values()];
  }

  get(callId: string): Call | undefined {
    return this.#owned.get(callId);
  }

  own(call: Call): void {
    this.#owned.set(call.id, call);
  }

  /** The call is nobody's any more; what is still being written of it is written first. */
  letGo(call: Call): void {
    if (this.#owned.get(call.id) !== call) return;
    this.#owned.delete(call.id);
    this.#visit(call);
  }

  /** Who writes the row of a call: its owner, or `make`'s for as long as something is written. */
  writerOf(record: CallRecord, make: (record: CallRecord) => Call): Call {
    return this.#owned.get(record.id) ?? this.#visited.get(record.id) ?? this.#visit(make(record));
  }

  #visit(call: Call): Call {
    this.#visited.set(call.id, call);
    // Whoever asked for it tells it something first.
    void Promise.resolve()
      .then(() => call.idle())
      .then(() => {
        if (this.#visited.get(call.id) === call) this.#visited.delete(call.id);
      });
    return call;
  }
}
