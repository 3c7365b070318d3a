// The result of an ended call: settled once, with its call.completed event, also when the program ended in between.
// Asking the model is extraction.ts; the bridge says when a transcript is final.
import { failpoint } from '../../failpoints.ts';
import type { Log } from '../../log.ts';
import type { CallCost, CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { openExtraction } from './extraction.ts';
import { noConversation } from './extraction-input.ts';

const MAX_AT_ONCE = 8;
/** A store that fails is asked again, less and less often; what still fails then (after some 3 min) waits for the next start. */
const MAX_STORE_PAUSE_MS = 30_000;
const MAX_STORE_TRIES = 12;

export interface Results {
  /**
   * Settles the result of a call that was completed so many milliseconds ago, in its own time. A repeat, and a call with
   * nothing to settle, changes nothing.
   */
  settle(callId: string, endedMsAgo?: number): void;
  /** Notes what a call cost that ended without anything to settle; all of its usage is in. */
  settleCost(callId: string): void;
  /** Settles what is pending and not under way: what a process that is dead has left, once its calls are this one's. */
  takeUp(): void;
  /** Stops what is under way; what is not settled stays pending for the next start. */
  close(): Promise<void>;
}

type Verdict = Pick<CallRecord, 'result' | 'result_status' | 'result_error'> &
  Partial<Pick<CallRecord, 'summary' | 'sentiment'>>;

/** Judged calls and, where a model was asked, what it used. */
interface Judgement {
  verdict: Verdict;
  about: Record<string, unknown>;
  usage?: Record<string, number>;
}

const NOTHING_ASKED: Verdict = { result: null, result_status: 'completed', result_error: null };

const failed = (why: string): Verdict => ({ result: null, result_status: 'failed', result_error: why });

/** Thrown to leave a job when the program ends. */
const CLOSED = new Error('closed');

export interface ResultsOptions {
  store: Pick<Store, 'findCall' | 'listTranscript' | 'pendingResults' | 'saveCall' | 'stored'>;
  log: Log;
  openai: { apiKey: string; baseUrl: string };
  model: string;
  deadlineMs?: number;
  retryBaseMs?: number;
  /** What a call cost, from its record as it then is; without it, nothing is said of cost. */
  costOf?: (call: CallRecord) => CallCost;
}

/**
 * Opens the settling of results, and takes up what an earlier run of the program left pending.
 * `deadlineMs`: from a call's end to its verdict; calls that were left pending get as long from now.
 * `retryBaseMs`: the first pause before something is tried again, by the model or the store; it doubles.
 */
export function openResults(o: ResultsOptions): Results {
  return new Settlement(o);
}

/** One job per call: it settles the result or notes the cost. So many at once ask the model, the others wait. */
class Settlement implements Results {
  readonly #o: ResultsOptions;
  readonly #deadlineMs: number;
  readonly #retryBaseMs: number;
  readonly #extract: ReturnType<typeof openExtraction>;
  readonly #closing = new AbortController();
  readonly #jobs = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #atOnce = 0;
  /** What was left pending has been begun. */
  #takenUp: Promise<void>;

  constructor(o: ResultsOptions) {
    this.#o = o;
    this.#deadlineMs = o.deadlineMs ?? 60_000;
    this.#retryBaseMs = o.retryBaseMs ?? 500;
    this.#extract = openExtraction({ openai: o.openai, model: o.model, retryBaseMs: this.#retryBaseMs });
    this.#takenUp = this.#takeUpPending();
  }

  settle(callId: string, endedMsAgo = 0): void {
    const endedAtMs = performance.now() - endedMsAgo;
    this.#start(callId, () => this.#settleOne(callId, endedAtMs, false));
  }

  settleCost(callId: string): void {
    this.#start(callId, () => this.#noteCost(callId));
  }

  takeUp(): void {
    this.#takenUp = Promise.all([this.#takenUp, this.#takeUpPending()]).then(() => {});
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#takenUp;
    await Promise.all(this.#jobs.values());
  }

  async #takeUpPending(): Promise<void> {
    try {
      for (const call of await this.#stored(() => this.#o.store.pendingResults())) {
        this.#start(call.id, () => this.#settleOne(call.id, performance.now(), true));
      }
    } catch (error) {
      if (error !== CLOSED) this.#o.log.error({ err: error }, 'result.not_taken_up');
    }
  }

  /** A place among those who may ask the model, or false when `deadline` (performance.now()) or the end came first. */
  async #takePlace(deadline: number): Promise<boolean> {
    if (this.#atOnce < MAX_AT_ONCE) {
      this.#atOnce += 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const take = () => resolve(true);
    const leave = () => {
      const at = this.#waiting.indexOf(take);
      if (at >= 0) this.#waiting.splice(at, 1);
      resolve(false);
    };
    this.#waiting.push(take);
    const timer = setTimeout(leave, Math.max(0, deadline - performance.now()));
    this.#closing.signal.addEventListener('abort', leave, { once: true });
    const taken = await promise;
    clearTimeout(timer);
    this.#closing.signal.removeEventListener('abort', leave);
    return taken;
  }

  #givePlace(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#atOnce -= 1;
    else next();
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const stop = () => resolve();
    this.#closing.signal.addEventListener('abort', stop, { once: true });
    await promise;
    clearTimeout(timer);
    this.#closing.signal.removeEventListener('abort', stop);
  }

  /** A full disk or a busy file passes; a verdict that is not written would hold back call.completed until the next start. */
  async #stored<T>(verb: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      if (this.#closing.signal.aborted) throw CLOSED;
      try {
        return await verb();
      } catch (error) {
        if (tries === MAX_STORE_TRIES) throw error;
        await this.#pause(Math.min(MAX_STORE_PAUSE_MS, this.#retryBaseMs * 2 ** (tries - 1)));
      }
    }
  }

  /** performance.now() by which the verdict must be there. */
  #deadlineOf(endedAtMs: number): number {
    // One that could not begin for long, as on a full disk, has a twelfth all the same.
    return Math.max(endedAtMs + this.#deadlineMs, performance.now() + this.#deadlineMs / 12);
  }

  async #judge(call: CallRecord, endedAtMs: number): Promise<Judgement> {
    const asked = Object.keys(call.returns).length > 0;
    if (!asked && !call.summarize) return { verdict: NOTHING_ASKED, about: { why: 'nothing_asked' } };
    /** Who asked for a summary alone has no result that could fail. */
    const without = (why: string): Verdict => (asked ? failed(why) : NOTHING_ASKED);
    const items = await this.#stored(() => this.#o.store.listTranscript(call.id));
    const nothing = noConversation(call, items);
    if (nothing !== null) return { verdict: without(nothing), about: { why: 'no_conversation' } };
    const deadline = this.#deadlineOf(endedAtMs);
    if (!(await this.#takePlace(deadline))) {
      if (this.#closing.signal.aborted) throw CLOSED;
      return {
        verdict: without('The extraction model did not answer in time.'),
        about: { why: 'no_place' },
      };
    }
    try {
      const extraction = await this.#extract({ call, items, deadline, signal: this.#closing.signal });
      if (!extraction.ok && extraction.code === 'closed') throw CLOSED;
      const about = {
        attempts: extraction.attempts,
        input_tokens: extraction.inputTokens,
        output_tokens: extraction.outputTokens,
      };
      const usage = {
        attempts: extraction.attempts,
        input_tokens: extraction.inputTokens,
        cached_tokens: extraction.cachedTokens,
        output_tokens: extraction.outputTokens,
      };
      return extraction.ok
        ? {
            verdict: {
              ...NOTHING_ASKED,
              ...(asked ? { result: extraction.result } : {}),
              ...extraction.summary,
            },
            about: { why: 'extracted', ...about },
            usage,
          }
        : { verdict: without(extraction.error), about: { why: extraction.code, ...about }, usage };
    } finally {
      this.#givePlace();
    }
  }

  /** What a full disk keeps in memory of a call comes before what is made of it. */
  async #wholeInStore(callId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const leave = () => resolve();
    this.#closing.signal.addEventListener('abort', leave, { once: true });
    await Promise.race([this.#o.store.stored(callId), promise]);
    this.#closing.signal.removeEventListener('abort', leave);
    if (this.#closing.signal.aborted) throw CLOSED;
  }

  async #settleOne(callId: string, endedAtMs: number, leftPending: boolean): Promise<void> {
    await this.#wholeInStore(callId);
    const started = performance.now();
    const call = await this.#stored(() => this.#o.store.findCall(callId));
    if (call === null || call.status !== 'completed' || call.result_status !== 'pending') return;
    const { verdict, about, usage = null } = await this.#judge(call, endedAtMs);
    failpoint('result_before_commit');
    // Read again: what the bridge counted meanwhile belongs to it.
    const latest = (await this.#stored(() => this.#o.store.findCall(callId))) ?? call;
    const judged = { ...latest, extraction_usage: usage };
    const change = {
      ...verdict,
      extraction_usage: usage,
      ...(this.#o.costOf === undefined ? {} : { cost: this.#o.costOf(judged) }),
    };
    const saved = await this.#stored(() =>
      this.#o.store.saveCall(callId, { from: ['completed'], change, events: ['call.completed'] }),
    );
    const fields = {
      call_id: callId,
      org_id: call.org_id,
      result_status: verdict.result_status,
      ...about,
      left_pending: leftPending,
      took_ms: Math.round(performance.now() - started),
    };
    if ('conflict' in saved) this.#o.log.warn({ ...fields, conflict: saved.conflict }, 'result.not_settled');
    else this.#o.log.info(fields, 'result.settled');
  }

  async #noteCost(callId: string): Promise<void> {
    await this.#wholeInStore(callId);
    const call = await this.#stored(() => this.#o.store.findCall(callId));
    if (call === null || this.#o.costOf === undefined || call.cost !== null || call.ended_at === null) return;
    const change = { cost: this.#o.costOf(call) };
    await this.#stored(() => this.#o.store.saveCall(callId, { from: [call.status], change }));
  }

  #start(callId: string, work: () => Promise<void>): void {
    if (this.#closing.signal.aborted || this.#jobs.has(callId)) return;
    const job = work()
      .catch((error: unknown) => {
        if (error !== CLOSED) this.#o.log.error({ call_id: callId, err: error }, 'result.failed');
      })
      .finally(() => this.#jobs.delete(callId));
    this.#jobs.set(callId, job);
  }
}
