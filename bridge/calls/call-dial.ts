// How a call comes to its line at the carrier: dialled once, and where the answer was lost, looked for. Never dialled again.
import { AppError } from '../../errors.ts';
import type { CallRecord } from '../../storage/records.ts';
import { type CarrierStatus, NO_ANSWER } from '../carriers/carrier.ts';
import type { CallContext } from './call-context.ts';
import type { CallLine } from './call-line.ts';
import type { CallInput } from './live-state.ts';

/** The first callback of a call comes within this, unless the carrier still keeps the call in its queue. */
const CALLBACK_WAIT_MS = 2_000;
/** What the carrier says of a line that is gone. */
const ENDED: ReadonlySet<CarrierStatus> = new Set(['completed', 'busy', 'no_answer', 'failed', 'canceled']);
/** A dial of another call is answered within this, and looked for so often; else its line ends by its own ring limit. */
const RIVAL_WAIT_MS = 15_000;
const RIVAL_LOOK_MS = 500;

/** Other calls between the same numbers of which no line is known: none, those of dead processes only, or one being dialled. */
export type Rivals = 'none' | 'left' | 'dialling';

export interface CallDialOptions {
  context: Pick<CallContext, 'store' | 'log' | 'pause' | 'failpoint'>;
  line: CallLine;
  /** As the call is now. */
  row(): CallRecord;
  tell(input: CallInput): Promise<CallRecord>;
  /** Resolves with true once the call has its line, with false after so long. */
  hasLine(withinMs: number): Promise<boolean>;
}

export class CallDial {
  readonly #o: CallDialOptions;

  constructor(o: CallDialOptions) {
    this.#o = o;
  }

  /** @throws AppError carrier_error when the carrier refuses; the call has failed then */
  async place(): Promise<CallRecord> {
    const { line, tell } = this.#o;
    try {
      const carrierCallId = await line.dial(this.#o.row());
      this.#o.context.failpoint('dialled_before_record');
      return await tell({ type: 'dial-accepted', carrierCallId });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'carrier_error') throw error;
      const adopted = error.carrierCode === NO_ANSWER ? await this.#adopt() : null;
      if (adopted !== null) return adopted;
      await tell({ type: 'dial-refused', code: error.carrierCode ?? null, message: error.message });
      throw error;
    }
  }

  /**
   * The process died between its intent to dial and the carrier's answer: the call may be ringing somewhere. Of what may be
   * another's as well none is adopted and all are hung up, for a call must not get another's end and bill; of what may be
   * one's that is being dialled now, nothing is touched.
   * @param rivals who else may have its line, asked when the carrier has named the lines
   */
  async find(rivals: () => Promise<Rivals>): Promise<void> {
    const { line, row, tell } = this.#o;
    try {
      let lines = await line.candidates(row());
      let others = await rivals();
      for (let waitedMs = 0; others === 'dialling'; waitedMs += RIVAL_LOOK_MS) {
        if (waitedMs >= RIVAL_WAIT_MS) {
          this.#o.context.log.warn({ call_id: row().id }, 'call.line_not_looked_for');
          return;
        }
        await this.#o.context.pause(RIVAL_LOOK_MS);
        lines = await line.candidates(row());
        others = await rivals();
      }
      let adopts = others === 'none';
      for (const { carrierCallId, status } of lines) {
        if (await this.#isTaken(carrierCallId)) continue;
        if (adopts) await tell({ type: 'dial-accepted', carrierCallId });
        else if (!ENDED.has(status)) await line.endStray(carrierCallId);
        adopts = false;
      }
    } catch (error) {
      line.notAsked(error);
    }
  }

  /**
   * The carrier's answer to the dial was lost. Its own first callback names the call for certain; only without it, another
   * call to the same number is taken for this one.
   */
  async #adopt(): Promise<CallRecord | null> {
    const { row, tell, line } = this.#o;
    try {
      if (await this.#o.hasLine(CALLBACK_WAIT_MS)) return row();
      for (const { carrierCallId } of await line.candidates(row())) {
        if (await this.#isTaken(carrierCallId)) continue;
        return await tell({ type: 'dial-accepted', carrierCallId });
      }
    } catch (error) {
      this.#o.context.log.warn({ call_id: row().id, err: error }, 'call.not_adopted');
    }
    return null;
  }

  async #isTaken(carrierCallId: string): Promise<boolean> {
    const { carrier } = this.#o.row();
    return (await this.#o.context.store.findCallByCarrierId(carrier, carrierCallId)) !== null;
  }
}
