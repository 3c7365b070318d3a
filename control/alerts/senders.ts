// One attempt to tell of an alert: a webhook that is signed as deliveries are, by the organization's own secret, or an e-mail.
// What came of it is the answer; trying again is alerts.ts's.
import type { Clock } from '../../clock.ts';
import type { AlertMessageRecord, AlertSettingsRecord } from '../../storage/alert-records.ts';
import type { OrganizationRecord } from '../../storage/records.ts';
import { type Egress, EgressError } from '../egress/egress.ts';
import { type Mail, MailError } from '../mail/mail.ts';
import { ATTEMPT_TIMEOUT_MS, ERROR_NAME } from '../webhooks/delivery.ts';
import { signWebhook } from '../webhooks/signature.ts';
import { ALERT_KIND_FACTS } from './alert-kinds.ts';

const MAX_RESPONSE_BYTES = 16 * 1024;
/** Of an organization in an hour, tests included: addresses are typed, and may be anybody's. */
const MOST_LETTERS = 30;
const HOUR_MS = 3_600_000;

/** Null where it was taken. */
export interface AlertOutcome {
  error: string | null;
}

/** A test has no kind: it tells of nothing. */
type Told =
  | Pick<AlertMessageRecord, 'id' | 'created_at' | 'kind' | 'status' | 'text' | 'value' | 'threshold'>
  | { id: string; created_at: string };

type Send = (
  settings: AlertSettingsRecord,
  organization: OrganizationRecord,
  told: Told,
  stop: AbortSignal,
) => Promise<AlertOutcome>;

export interface AlertSenders {
  egress: Pick<Egress, 'request'>;
  /** Null: no server is set. */
  mail: Mail | null;
  /** Where the dashboard is. */
  publicUrl: string;
  clock: Pick<Clock, 'now'>;
}

const TYPES = { firing: 'alert.firing', still_firing: 'alert.firing', resolved: 'alert.resolved' } as const;
const TEST_TEXT = 'This is a test: alerts of this organization will come this way.';

/** The body of the webhook. */
function bodyOf(organization: OrganizationRecord, told: Told, dashboard: string): string {
  const { id, name } = organization;
  const common = { alert_id: told.id, organization: { id, name }, dashboard_url: dashboard };
  if (!('kind' in told))
    return JSON.stringify({
      type: 'alert.test',
      timestamp: told.created_at,
      data: { ...common, text: TEST_TEXT },
    });
  const { kind, status, text, value, threshold } = told;
  const { title, unit } = ALERT_KIND_FACTS[kind];
  return JSON.stringify({
    type: TYPES[status],
    timestamp: told.created_at,
    data: { ...common, kind, title, text, value, threshold, unit, repeated: status === 'still_firing' },
  });
}

/** Of the organization: those in force. */
function secretsOf(organization: OrganizationRecord, at: string): string[] {
  const { webhook_secret, previous_webhook_secret, previous_webhook_secret_expires_at: until } = organization;
  const both = previous_webhook_secret !== null && until !== null && until > at;
  return both ? [webhook_secret, previous_webhook_secret] : [webhook_secret];
}

function subjectOf(told: Told): string {
  if (!('kind' in told)) return 'A test of your alerts';
  const { title } = ALERT_KIND_FACTS[told.kind];
  if (told.status === 'resolved') return `Over: ${title}`;
  return told.status === 'firing' ? title : `Still so: ${title}`;
}

export function sendersOf({
  egress,
  mail,
  publicUrl,
  clock,
}: AlertSenders): Record<'webhook' | 'email', Send> {
  const dashboard = `${publicUrl}/alerts`;
  /** By organization, when letters went out in the last hour. */
  const letters = new Map<string, number[]>();
  function maySend(orgId: string): boolean {
    const nowMs = clock.now().getTime();
    // A clock that was set back makes none of them wait for longer.
    const lately = (letters.get(orgId) ?? []).filter((at) => at <= nowMs && at > nowMs - HOUR_MS);
    letters.set(orgId, lately);
    if (lately.length >= MOST_LETTERS) return false;
    lately.push(nowMs);
    return true;
  }
  return {
    async webhook(settings, organization, told, stop) {
      if (settings.webhook_url === null) return { error: 'not_set' };
      // Of the attempt: receivers refuse what is old.
      const now = clock.now();
      const timestampSeconds = Math.floor(now.getTime() / 1000);
      const body = bodyOf(organization, told, dashboard);
      const secrets = secretsOf(organization, now.toISOString());
      try {
        const { status } = await egress.request(settings.webhook_url, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json; charset=utf-8',
            'webhook-id': told.id,
            'webhook-timestamp': String(timestampSeconds),
            'webhook-signature': signWebhook({ id: told.id, timestampSeconds, body, secrets }),
          },
          body,
          timeoutMs: ATTEMPT_TIMEOUT_MS,
          maxResponseBytes: MAX_RESPONSE_BYTES,
          signal: stop,
        });
        if (status >= 200 && status <= 299) return { error: null };
        return { error: status >= 300 && status <= 399 ? 'redirect_not_followed' : `http_status_${status}` };
      } catch (error) {
        if (stop.aborted) return { error: 'stopped' };
        if (error instanceof EgressError) return { error: ERROR_NAME[error.kind] };
        throw error;
      }
    },

    async email(settings, organization, told) {
      if (mail === null) return { error: 'the daemon has no mail server (SMTP_URL)' };
      if (settings.emails.length === 0) return { error: 'not_set' };
      if (!maySend(organization.id)) return { error: `more than ${MOST_LETTERS} e-mails in an hour` };
      const text = 'kind' in told ? told.text : TEST_TEXT;
      try {
        await mail.send({
          id: told.id,
          to: settings.emails,
          subject: `[Offhook] ${subjectOf(told)} (${organization.name})`,
          text: `${text}\n\n${told.created_at}\n${dashboard}\n`,
        });
        return { error: null };
      } catch (error) {
        if (error instanceof MailError) return { error: error.message };
        throw error;
      }
    },
  };
}
