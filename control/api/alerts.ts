// The routes of alerts, what an organization is told of when it is wrong, and of health, which it asks for itself.
import { AppError } from '../../errors.ts';
import type { AlertMessageRecord, AlertRule } from '../../storage/alert-records.ts';
import { ALERT_KIND_FACTS, allRules } from '../alerts/alert-kinds.ts';
import { concurrencyLimit } from '../http/concurrency-limit.ts';
import type { ControlParts } from '../http/parts.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './alert-schemas.ts';

const MESSAGES_SHOWN = 50;
/** Each holds a connection of the daemon for as long as the receiver takes. */
const testInTurn = concurrencyLimit(1, {
  message: 'A test of your alerts is under way already; wait for it to end.',
  retryAfterSeconds: 5,
});

function messageView({ org_id: _org, next_attempt_at: _next, ...message }: AlertMessageRecord) {
  return message;
}

async function alertsOf(
  { store, alerts }: Pick<ControlParts, 'store' | 'alerts'>,
  orgId: string,
): Promise<unknown> {
  const [settings, states, messages] = await Promise.all([
    store.getAlertSettings(orgId),
    store.listAlertStates(orgId),
    store.listAlertMessages(orgId, MESSAGES_SHOWN),
  ]);
  const rules = allRules(settings?.rules ?? []);
  const readings = await alerts.read(orgId, rules);
  return {
    webhook_url: settings?.webhook_url ?? null,
    emails: settings?.emails ?? [],
    email_available: alerts.canMail,
    rules: rules.map(({ kind, ...rule }) => {
      const { title, unit } = ALERT_KIND_FACTS[kind];
      const state = states.find((one) => one.kind === kind);
      const reading = readings.get(kind);
      return {
        kind,
        title,
        unit,
        ...rule,
        status: state?.status ?? 'ok',
        since: state?.since_at ?? null,
        value: reading?.value ?? null,
        text: reading?.text ?? null,
      };
    }),
    messages: messages.map(messageView),
  };
}

const WORST = ['down', 'warn'] as const;

export const alertRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/health',
    operation: 'getHealth',
    summary: 'Tell how the line stands, part by part',
    description:
      'Always 200: what it says is in the body. Carrier and model are asked once a minute at most. For probes of the process itself there are /healthz and /readyz.',
    status: 200,
    answer: schemas.health,
    async run({ health, orgId }) {
      const parts = await health.of(orgId);
      const states = Object.values(parts).map(({ state }) => state);
      return { body: { state: WORST.find((state) => states.includes(state)) ?? 'ok', ...parts } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/alerts',
    operation: 'getAlerts',
    summary: 'Read what is watched, how it stands, whom that is told, and what was told',
    status: 200,
    answer: schemas.alerts,
    async run({ orgId, ...parts }) {
      return { body: await alertsOf(parts, orgId) };
    },
  }),

  route({
    method: 'patch',
    path: '/v1/alerts',
    operation: 'updateAlerts',
    errors: ['invalid_url', 'blocked_address'],
    summary: 'Change what is watched, and whom that is told',
    needs: 'admin',
    status: 200,
    body: schemas.changeAlerts,
    answer: schemas.alerts,
    async run({ orgId, body, egress, log, now, ...parts }) {
      if (typeof body.webhook_url === 'string') egress.check(body.webhook_url, 'webhook_url');
      const before = await parts.store.getAlertSettings(orgId);
      const rules = allRules(before?.rules ?? []).map((rule): AlertRule => {
        const change = body.rules?.filter(({ kind }) => kind === rule.kind).at(-1);
        const given = Object.entries(change ?? {}).filter(([, value]) => value !== undefined);
        return { ...rule, ...(Object.fromEntries(given) as Partial<AlertRule>) };
      });
      await parts.store.saveAlertSettings({
        org_id: orgId,
        webhook_url: body.webhook_url === undefined ? (before?.webhook_url ?? null) : body.webhook_url,
        emails: body.emails === undefined ? (before?.emails ?? []) : [...new Set(body.emails)],
        rules,
        updated_at: now().toISOString(),
      });
      const watched = rules.flatMap(({ kind, enabled }) => (enabled ? [kind] : []));
      log.info({ org_id: orgId, watched }, 'alerts.changed');
      parts.alerts.lookSoon();
      return { body: await alertsOf(parts, orgId) };
    },
  }),

  route({
    method: 'post',
    path: '/v1/alerts/test',
    operation: 'testAlerts',
    errors: ['conflict'],
    summary: 'Send a test on each way that is set, and answer what came of it',
    description:
      'At once and once, as alerts are sent, with the type `alert.test`. Nothing of it is stored. One test of an organization at a time, then 429.',
    needs: 'admin',
    status: 200,
    answer: schemas.alertTest,
    async run({ alerts, orgId, log }) {
      const outcome = await testInTurn(orgId, () => alerts.test(orgId));
      if (outcome.webhook === null && outcome.email === null)
        throw new AppError('conflict', 'Nobody would be told: set webhook_url or emails first.');
      log.info({ org_id: orgId, ...outcome }, 'alerts.tested');
      return { body: outcome };
    },
  }),
];
