// How a call that was left by its thread, or by its process, comes to another thread: what was said on it is read and closed, a
// thread is waited for, and it is told all that. Whether the call goes on at all is call-again.ts.
import { AppError } from '../../errors.ts';
import type { CallRecord, TranscriptItemRecord } from '../../storage/records.ts';
import { resumedBy } from './call-again.ts';
import type { CallContext } from './call-context.ts';
import type { CallLine } from './call-line.ts';
import type { CallMedia } from './call-media.ts';
import type { CallToolRuns } from './call-tool-runs.ts';
import type { CallWords } from './call-words.ts';
import type { Input } from './live-state.ts';

/** A thread that died is started again within moments, unless it keeps dying. */
export const COMING_MS = 10_000;

export interface CallCarryOptions {
  context: Pick<CallContext, 'log' | 'monotonicMs'>;
  callId: string;
  media: CallMedia;
  words: CallWords;
  tools: CallToolRuns;
  line: Pick<CallLine, 'machinePlan'>;
}

export class CallCarry {
  readonly #o: CallCarryOptions;

  constructor(o: CallCarryOptions) {
    this.#o = o;
  }

  /** Notes the tools that ran where the call was left: nobody knows what they did. */
  async noteLeft(): Promise<void> {
    await this.#o.tools.noteUnfinished(await this.#readWords());
  }

  /**
   * Resolves once a thread runs, or when none does for too long. What it answers is to be done in the call's lane, while the call
   * is still without a thread; `streamAt`: when its first stream began.
   */
  async ready(): Promise<
    (call: CallRecord, streamAt: number | null) => Input<'carried-again' | 'not-carried'>
  > {
    const { context, callId, media, words, tools, line } = this.#o;
    // Of what the agent was saying, nobody hears more.
    words.breakOff();
    await words.written();
    await this.noteLeft();
    const told = await this.#readWords();
    const runs = await media.threadRuns(COMING_MS);
    return (call, streamAt) => {
      // Nor of what the dead process has told of.
      words.breakOff(call.gaps.at(-1)?.from_ms ?? null);
      try {
        if (!runs) throw new AppError('at_capacity', 'No media thread runs.');
        const elapsedMs = streamAt === null ? 0 : context.monotonicMs() - streamAt;
        const resumed = resumedBy(call, told, elapsedMs);
        media.prepare(call, { machine: line.machinePlan(call), patience: 1, resumed });
        return { type: 'carried-again', running: tools.running };
      } catch (error) {
        context.log.error({ call_id: callId, err: error }, 'call.not_carried');
        return { type: 'not-carried' };
      }
    };
  }

  /** The transcript as it is stored; nothing of it where it cannot be read. */
  async #readWords(): Promise<TranscriptItemRecord[]> {
    try {
      return await this.#o.words.takeUp();
    } catch (error) {
      this.#o.context.log.error({ call_id: this.#o.callId, err: error }, 'transcript.not_read');
      return [];
    }
  }
}
