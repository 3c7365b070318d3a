// Alerts: what an organization wants to be told of, how each rule stands, and what was told.
import { EVENT_TYPES } from '../records.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { ALERT_MESSAGES, ALERT_SETTINGS, ALERT_STATES } from './rows.ts';

type Verbs =
  | 'countWaiting'
  | 'getAlertSettings'
  | 'saveAlertSettings'
  | 'listAlertSettings'
  | 'listAlertStates'
  | 'saveAlertState'
  | 'listAlertMessages'
  | 'dueAlertMessages'
  | 'recordAlertSending';

/** Of an organization; what is older than the newest so many goes as others come. */
const MESSAGES_KEPT = 200;

/** One seek a type of event, into what waits alone. */
const WAITING = `SELECT count(*) AS count FROM (
  SELECT 1 FROM deliveries INDEXED BY deliveries_by_state LEFT JOIN endpoints ON endpoints.id = deliveries.endpoint_id
  WHERE deliveries.org_id = ? AND deliveries.event_type IN (${EVENT_TYPES.map(() => '?').join(', ')})
    AND deliveries.status = 'pending' AND deliveries.created_at < ?
    AND endpoints.disabled_reason IS NOT 'manual'
  LIMIT 10000)`;

export function alerts(connection: Connection): Pick<Store, Verbs> {
  const { statement, write } = connection;

  return {
    async countWaiting(orgId, before) {
      const [row] = await connection.read(WAITING, [orgId, ...EVENT_TYPES, before]);
      return Number(row?.count);
    },

    async getAlertSettings(orgId) {
      const row = statement(`SELECT ${ALERT_SETTINGS.selected} FROM alert_settings WHERE org_id = ?`).get(
        orgId,
      );
      return row ? ALERT_SETTINGS.fromRow(row) : null;
    },

    async saveAlertSettings(settings) {
      return write(() => {
        statement(
          `${ALERT_SETTINGS.insert} ON CONFLICT (org_id) DO UPDATE SET webhook_url = excluded.webhook_url,
           emails = excluded.emails, rules = excluded.rules, updated_at = excluded.updated_at`,
        ).run(ALERT_SETTINGS.toRow(settings));
        return settings;
      });
    },

    async listAlertSettings() {
      return statement(`SELECT ${ALERT_SETTINGS.selected} FROM alert_settings ORDER BY seq`)
        .all()
        .map(ALERT_SETTINGS.fromRow);
    },

    async listAlertStates(orgId) {
      return statement(`SELECT ${ALERT_STATES.selected} FROM alert_states WHERE org_id = ?`)
        .all(orgId)
        .map(ALERT_STATES.fromRow);
    },

    async saveAlertState(state, message) {
      return write(() => {
        const { changes } = statement(
          `${ALERT_STATES.insert} ON CONFLICT (org_id, kind) DO UPDATE SET status = excluded.status,
           since_at = excluded.since_at, fired_at = excluded.fired_at, told_at = excluded.told_at,
           version = excluded.version WHERE alert_states.version = excluded.version - 1`,
        ).run(ALERT_STATES.toRow(state));
        if (changes !== 1) return false;
        if (message !== null) {
          statement(ALERT_MESSAGES.insert).run(ALERT_MESSAGES.toRow(message));
          statement(
            `DELETE FROM alert_messages WHERE org_id = @org_id AND seq <=
             (SELECT seq FROM alert_messages WHERE org_id = @org_id ORDER BY seq DESC LIMIT 1 OFFSET @kept)`,
          ).run({ org_id: message.org_id, kept: MESSAGES_KEPT });
        }
        return true;
      });
    },

    async listAlertMessages(orgId, limit) {
      return statement(
        `SELECT ${ALERT_MESSAGES.selected} FROM alert_messages WHERE org_id = ? ORDER BY seq DESC LIMIT ?`,
      )
        .all(orgId, limit)
        .map(ALERT_MESSAGES.fromRow);
    },

    async dueAlertMessages(now) {
      return statement(
        `SELECT ${ALERT_MESSAGES.selected} FROM alert_messages INDEXED BY alert_messages_due
         WHERE next_attempt_at IS NOT NULL AND next_attempt_at <= ? ORDER BY next_attempt_at LIMIT 100`,
      )
        .all(now)
        .map(ALERT_MESSAGES.fromRow);
    },

    async recordAlertSending(id, sending) {
      await write(() =>
        statement(
          `UPDATE alert_messages SET webhook = @webhook, email = @email, next_attempt_at = @next_attempt_at
           WHERE id = @id`,
        ).run({ ...ALERT_MESSAGES.toRow(sending, ['webhook', 'email', 'next_attempt_at']), id }),
      );
    },
  };
}
