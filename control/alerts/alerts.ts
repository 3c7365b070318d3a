// Alerts of every organization: looks twice a minute, has what changed stored with its message, and sends what is owed. Of
// several daemons on a folder the oldest does it. What is decided stands in alert-step.ts and alert-reading.ts.
import { v7 as uuidv7 } from 'uuid';
import type { Log } from '../../log.ts';
import type {
  AlertKind,
  AlertMessageRecord,
  AlertRule,
  AlertSending,
  AlertSettingsRecord,
  AlertStateRecord,
} from '../../storage/alert-records.ts';
import type { Store } from '../../storage/store.ts';
import type { LineHealth } from '../health/line-health.ts';
import { allRules } from './alert-kinds.ts';
import {
  diskReading,
  failureReading,
  latencyFrom,
  latencyReading,
  partReading,
  spendReading,
  waitingReading,
} from './alert-reading.ts';
import { type AlertReading, type AlertStanding, alertStep, WELL } from './alert-step.ts';
import { type AlertOutcome, type AlertSenders, sendersOf } from './senders.ts';

const EVERY_MS = 30_000;
/** After each attempt that failed, the next comes so much later; after the last there is none. */
const RETRY_MINUTES = [1, 5, 15, 60] as const;
/** Of how many calls, the newest, a failure rate is at most. */
const MOST_CALLS = 200;
const HOUR_MS = 3_600_000;

export interface AlertsOptions extends AlertSenders {
  store: Pick<
    Store,
    | 'answerLatencies'
    | 'callHours'
    | 'countWaiting'
    | 'daemons'
    | 'dueAlertMessages'
    | 'getAlertSettings'
    | 'getOrganization'
    | 'lastEnded'
    | 'listAlertSettings'
    | 'listAlertStates'
    | 'recordAlertSending'
    | 'saveAlertState'
    | 'self'
  >;
  health: Pick<LineHealth, 'carrier' | 'model'>;
  freeMb: () => number | null;
  log: Log;
  everyMs?: number;
}

type Sendings = Pick<AlertMessageRecord, 'webhook' | 'email' | 'next_attempt_at'>;

const standingOf = (state: AlertStateRecord | undefined): AlertStanding => {
  if (state === undefined) return WELL;
  const ms = (time: string | null) => (time === null ? null : Date.parse(time));
  const { status, since_at, fired_at, told_at } = state;
  return { status, sinceMs: Date.parse(since_at), firedMs: ms(fired_at), toldMs: ms(told_at) };
};

const sending = (wanted: boolean): AlertSending | null =>
  wanted ? { status: 'pending', attempts: 0, error: null, sent_at: null } : null;

export class Alerts {
  readonly #o: AlertsOptions;
  readonly #senders: ReturnType<typeof sendersOf>;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #again = false;

  constructor(o: AlertsOptions) {
    this.#o = o;
    this.#senders = sendersOf(o);
  }

  /** Whether there is a server for e-mail. */
  get canMail(): boolean {
    return this.#o.mail !== null;
  }

  start(): void {
    this.#plan(this.#o.everyMs ?? EVERY_MS);
  }

  #plan(ms: number): void {
    if (this.#closing.signal.aborted) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.look(), ms);
    this.#timer.unref();
  }

  /** What is watched has changed. */
  lookSoon(): void {
    if (this.#timer !== null) this.#plan(0);
  }

  /** Looks at every rule of every organization once, and sends what is due. Never rejects. */
  look(): Promise<void> {
    if (this.#looking !== null) {
      this.#again = true;
      return this.#looking;
    }
    this.#looking = this.#lookAtAll()
      .catch((error: unknown) => this.#o.log.error({ err: error }, 'alerts.not_looked_at'))
      .finally(() => {
        this.#looking = null;
        if (this.#timer !== null) this.#plan(this.#again ? 0 : (this.#o.everyMs ?? EVERY_MS));
        this.#again = false;
      });
    return this.#looking;
  }

  async #lookAtAll(): Promise<void> {
    const { store, log } = this.#o;
    const [oldest] = await store.daemons();
    if (oldest !== undefined && oldest.epoch !== store.self().epoch) return;
    for (const settings of await store.listAlertSettings()) {
      if (this.#closing.signal.aborted) return;
      try {
        await this.#lookAt(settings);
      } catch (error) {
        log.error({ org_id: settings.org_id, err: error }, 'alerts.not_looked_at');
      }
    }
    const due = await store.dueAlertMessages(this.#o.clock.now().toISOString());
    for (const message of due) {
      if (this.#closing.signal.aborted) return;
      await this.#send(message);
    }
  }

  async #lookAt(settings: AlertSettingsRecord): Promise<void> {
    const { store, clock, log } = this.#o;
    const { org_id } = settings;
    const states = new Map((await store.listAlertStates(org_id)).map((state) => [state.kind, state]));
    const rules = allRules(settings.rules);
    const readings = await this.read(org_id, rules);
    for (const rule of rules) {
      const before = states.get(rule.kind);
      const reading = readings.get(rule.kind) ?? { value: null, wrong: null, text: '' };
      const nowMs = clock.now().getTime();
      const step = alertStep(rule, standingOf(before), reading, nowMs);
      if (step === null) continue;
      const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
      const { status, sinceMs, firedMs, toldMs } = step.standing;
      const state: AlertStateRecord = {
        org_id,
        kind: rule.kind,
        status,
        since_at: new Date(sinceMs).toISOString(),
        fired_at: iso(firedMs),
        told_at: iso(toldMs),
        version: (before?.version ?? 0) + 1,
      };
      const message = step.tell === null ? null : this.#message(settings, rule, reading, step.tell, nowMs);
      const saved = await store.saveAlertState(state, message);
      if (!saved || message === null) continue;
      const { kind, value, threshold } = message;
      log.warn({ org_id, kind, value, threshold }, `alert.${message.status}`);
    }
  }

  #message(
    settings: AlertSettingsRecord,
    { kind, threshold }: AlertRule,
    { value, text }: AlertReading,
    status: AlertMessageRecord['status'],
    nowMs: number,
  ): AlertMessageRecord {
    const created_at = new Date(nowMs).toISOString();
    const webhook = sending(settings.webhook_url !== null);
    const email = sending(settings.emails.length > 0);
    return {
      id: uuidv7(),
      org_id: settings.org_id,
      kind,
      status,
      text,
      value,
      threshold,
      created_at,
      webhook,
      email,
      next_attempt_at: webhook === null && email === null ? null : created_at,
    };
  }

  /** What each rule that is on finds now; what cannot be found out is left out, and in the log. */
  async read(orgId: string, rules: readonly AlertRule[]): Promise<Map<AlertKind, AlertReading>> {
    const found = await Promise.all(
      rules
        .filter(({ enabled }) => enabled)
        .map(async (rule): Promise<[AlertKind, AlertReading] | null> => {
          try {
            return [rule.kind, await this.#readOne(orgId, rule)];
          } catch (error) {
            this.#o.log.error({ org_id: orgId, kind: rule.kind, err: error }, 'alert.not_read');
            return null;
          }
        }),
    );
    return new Map(found.filter((one) => one !== null));
  }

  async #readOne(orgId: string, rule: AlertRule): Promise<AlertReading> {
    const { store, health, clock, freeMb } = this.#o;
    const nowMs = clock.now().getTime();
    const iso = (ms: number) => new Date(ms).toISOString();
    const nextHour = (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS;
    switch (rule.kind) {
      case 'failure_rate':
        return failureReading(rule, await store.lastEnded(orgId, MOST_CALLS), nowMs);
      case 'answer_latency_p95': {
        const from = iso(latencyFrom(rule, nowMs));
        return latencyReading(rule, await store.answerLatencies(orgId, from, iso(nextHour)));
      }
      case 'carrier_down':
        return partReading(await health.carrier());
      case 'model_down':
        return partReading(await health.model());
      case 'spend_per_day': {
        const day = `${iso(nowMs).slice(0, 10)}T00:00:00.000Z`;
        return spendReading(rule, await store.callHours(orgId, day, iso(nextHour)));
      }
      case 'webhooks_waiting': {
        const before = iso(nowMs - (rule.window_minutes ?? 0) * 60_000);
        return waitingReading(rule, await store.countWaiting(orgId, before));
      }
      case 'disk_low':
        return diskReading(rule, freeMb());
    }
  }

  /** One attempt on each way that is still owed. */
  async #send(message: AlertMessageRecord): Promise<void> {
    const { store, log, clock } = this.#o;
    const [settings, organization] = await Promise.all([
      store.getAlertSettings(message.org_id),
      store.getOrganization(message.org_id),
    ]);
    const next: Sendings = { webhook: message.webhook, email: message.email, next_attempt_at: null };
    for (const way of ['webhook', 'email'] as const) {
      const before = message[way];
      if (before?.status !== 'pending' || settings === null || organization === null) continue;
      const outcome = await this.#senders[way](settings, organization, message, this.#closing.signal);
      // Ended by the stop: the next start sends it.
      if (this.#closing.signal.aborted) return;
      next[way] = this.#after(before, outcome);
      const { status, attempts, error } = next[way];
      log.info({ alert_id: message.id, org_id: message.org_id, way, status, attempts, error }, 'alert.sent');
    }
    const waits = [next.webhook, next.email].flatMap((one) =>
      one?.status === 'pending' ? [RETRY_MINUTES[one.attempts - 1] ?? 0] : [],
    );
    if (waits.length > 0)
      next.next_attempt_at = new Date(clock.now().getTime() + Math.min(...waits) * 60_000).toISOString();
    await store.recordAlertSending(message.id, next);
  }

  #after(before: AlertSending, { error }: AlertOutcome): AlertSending {
    const attempts = before.attempts + 1;
    if (error === null)
      return { status: 'sent', attempts, error: null, sent_at: this.#o.clock.now().toISOString() };
    const isLast = attempts > RETRY_MINUTES.length;
    return { status: isLast ? 'failed' : 'pending', attempts, error, sent_at: null };
  }

  /** Sends a test on each way that is set, at once and once. Null: that way is not set. */
  async test(orgId: string): Promise<Record<'webhook' | 'email', AlertOutcome | null>> {
    const { store, clock } = this.#o;
    const [settings, organization] = await Promise.all([
      store.getAlertSettings(orgId),
      store.getOrganization(orgId),
    ]);
    if (settings === null || organization === null) return { webhook: null, email: null };
    const test = { id: uuidv7(), created_at: clock.now().toISOString() };
    const by = (way: 'webhook' | 'email', isSet: boolean) =>
      isSet ? this.#senders[way](settings, organization, test, this.#closing.signal) : null;
    const [webhook, email] = await Promise.all([
      by('webhook', settings.webhook_url !== null),
      by('email', settings.emails.length > 0),
    ]);
    return { webhook, email };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#looking;
  }
}
