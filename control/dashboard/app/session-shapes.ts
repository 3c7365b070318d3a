// What the session-only API answers, as the daemon sends it and the pages read it: health, overview, live calls. PURE types.
import type { Call, Interruption, TranscriptItem, Turn } from '../../sdk/index.ts';

export type HealthState = 'ok' | 'warn' | 'down';

/** `GET health`: one entry for each thing the line stands on, in this order where known: calls, carrier, model, queue, disk, threads. */
export type Health = Record<string, { state: HealthState; text: string } & Record<string, unknown>>;

export type Range = '24h' | '7d' | '30d';

/** `GET overview?range=`. Shares are of one; money in milli-cents; times ISO 8601. */
export interface Overview {
  range: Range;
  from: string;
  to: string;
  totals: {
    calls: number;
    inbound: number;
    outbound: number;
    /** Each call that has ended is one of these three: it went well, it failed, or nobody was reached. */
    completed: number;
    failed: number;
    unreached: number;
    live: number;
    /** Seconds of talk, all calls. */
    talk_seconds: number;
  };
  /** Completed of those that have ended; null when none has. */
  completed_rate: number | null;
  /** End of speech until something was heard, to within 3 %; null where nothing was measured. `turns`: of how many answers. */
  latency: { p50_ms: number | null; p95_ms: number | null; turns: number };
  /** Whom the daemon speaks to now, which is whom latencies are of. */
  measured_against: Record<
    'carriers' | 'models',
    readonly { host: string; place: 'vendor' | 'this_machine' | 'elsewhere' }[]
  >;
  /** Most frequent first. `reason` is an error code or a cause of the end. */
  failures: { reason: string; count: number }[];
  spend: {
    /** Charged to the organization. */
    billed_milli_cents: number;
    /** Estimated cost of running; null when nothing is known of it. */
    cost_milli_cents: number | null;
  };
  /** Whole range, oldest first, without a gap. */
  series: {
    at: string;
    calls: number;
    completed: number;
    failed: number;
    unreached: number;
    p50_ms: number | null;
    p95_ms: number | null;
    billed_milli_cents: number;
    cost_milli_cents: number | null;
  }[];
}

export type Floor = 'agent' | 'caller' | 'nobody' | null;

/** One call that is on now. */
export type LiveCall = Pick<
  Call,
  | 'id'
  | 'status'
  | 'direction'
  | 'from_number'
  | 'to_number'
  | 'agent_id'
  | 'created_at'
  | 'answered_at'
  | 'hangup_cause'
  | 'error_code'
  | 'gaps'
> & {
  agent_name: string | null;
  /** Null until the call's audio is there. */
  floor: Floor;
  /** Of the last answer: what the other side waited for it. */
  last_latency_ms: number | null;
  /** The last few. */
  words: TranscriptItem[];
  source: 'phone' | 'browser';
};

/** The events of `GET live`, by name. */
export interface LiveEvents {
  snapshot: { calls: LiveCall[] };
  call: LiveCall;
  floor: { call_id: string; floor: Floor; at_ms: number };
  words: { call_id: string; item: TranscriptItem };
  turn: { call_id: string; turn: Turn };
  interruption: { call_id: string; interruption: Interruption };
  ended: { call: LiveCall };
}

/** The answer of `GET call_totals`. Calls are those on the telephone; time and money count tries in the browser, too. */
export interface CallTotals {
  calls: number;
  completed: number;
  talk_seconds: number;
  billed_milli_cents: number;
  /** Null: of none is it known. */
  cost_milli_cents: number | null;
  /** Only so many, the newest, were added up; null: all. */
  newest: number | null;
}
