// What the routes of alerts and health take and answer, with what the reference says of each field. PURE.
import { z } from 'zod';
import { ALERT_KINDS, type AlertKind } from '../../storage/alert-records.ts';
import { ALERT_KIND_FACTS } from '../alerts/alert-kinds.ts';
import { id, time, url } from '../http/schemas.ts';

const kind = z
  .enum(ALERT_KINDS, `must be one of ${ALERT_KINDS.join(', ')}`)
  .describe(
    'What is watched. `failure_rate`: percent of the calls that ended in the window, the newest 200 at most, that failed; two failures at least. `answer_latency_p95`: milliseconds from the end of the caller’s words until the answer is heard, which 19 of 20 do not exceed, in the current hour (UTC) and as many before as the window has; five answers at least. `carrier_down`, `model_down`: it refuses or cannot be reached. `spend_per_day`: dollars of the calls made since midnight UTC, charged or estimated, whichever is more. `webhooks_waiting`: deliveries undelivered for longer than the window. `disk_low`: megabytes free on the disk of the data folder.',
  );
const numberOf = z.number('must be a number');
const email = z.email('must be an e-mail address').max(254, 'may have 254 characters at most');
const emails = z.array(email).max(10, 'may hold 10 addresses at most');

const threshold = numberOf
  .nullable()
  .describe(
    'From where on it is wrong, in the unit of its kind: at or above it, for `webhooks_waiting` above, for `disk_low` below. Null: the kind has none.',
  );
const window_minutes = z
  .int('must be a whole number of minutes')
  .nullable()
  .describe('Of how many minutes the value is. Null: the kind has no window.');
const hold_minutes = z
  .int('must be a whole number of minutes')
  .min(0)
  .max(1_440)
  .describe('For how long it must be wrong before anybody is told, and well again before that is told.');

/** A number must be one that its kind has, and within what it may be. */
function checkNumbers(rule: {
  kind: AlertKind;
  threshold?: number | null | undefined;
  window_minutes?: number | null | undefined;
}): { path: 'threshold' | 'window_minutes'; message: string } | null {
  const facts = ALERT_KIND_FACTS[rule.kind];
  for (const [path, limits] of [
    ['threshold', facts.threshold],
    ['window_minutes', facts.window],
  ] as const) {
    const value = rule[path];
    if (value === undefined) continue;
    if (limits === null && value !== null) return { path, message: `of ${rule.kind} must be null` };
    if (limits === null) continue;
    if (value === null || value < limits.min || value > limits.max)
      return { path, message: `of ${rule.kind} must be between ${limits.min} and ${limits.max}` };
  }
  return null;
}

const ruleChange = z
  .strictObject({
    kind,
    enabled: z.boolean('must be true or false').optional().describe('Whether it is watched.'),
    threshold: threshold.optional(),
    window_minutes: window_minutes.optional(),
    hold_minutes: hold_minutes.optional(),
  })
  .check((context) => {
    const wrong = checkNumbers(context.value);
    if (wrong === null) return;
    const { path, message } = wrong;
    context.issues.push({ code: 'custom', message, path: [path], input: context.value[path] });
  });

export const changeAlerts = z
  .strictObject({
    webhook_url: url
      .nullable()
      .optional()
      .describe(
        'Where alerts are posted, signed with the secret of `/v1/webhook_secret`. https only; addresses that are not public are refused. Null: nowhere.',
      ),
    emails: emails
      .optional()
      .describe('Who gets an e-mail; empty: nobody. It takes a mail server, which the operator sets.'),
    rules: z
      .array(ruleChange)
      .max(ALERT_KINDS.length, 'may name each kind once')
      .optional()
      .describe('Rules to change, by their kind; the others, and fields left out, stay as they are.'),
  })
  .refine((body) => Object.keys(body).length > 0, 'must name what to change')
  .meta({
    id: 'AlertsChange',
    examples: [
      {
        webhook_url: 'https://example.com/alerts',
        rules: [{ kind: 'failure_rate', enabled: true, threshold: 20, window_minutes: 60 }],
      },
    ],
  });

const rule = z
  .strictObject({
    kind,
    title: z.string().describe('As people call it.'),
    unit: z
      .enum(['percent', 'milliseconds', 'dollars', 'deliveries', 'megabytes'])
      .nullable()
      .describe('Of `threshold` and `value`. Null: it is so or it is not.'),
    enabled: z.boolean().describe('Whether it is watched.'),
    threshold,
    window_minutes,
    hold_minutes,
    status: z
      .enum(['ok', 'pending', 'firing', 'recovering'])
      .describe(
        'As of the last look, twice a minute. `pending`: wrong, and not yet for `hold_minutes`. `recovering`: told as wrong, and well again, not yet for `hold_minutes`.',
      ),
    since: time.nullable().describe('Since when it has that status. Null: nothing was ever wrong.'),
    value: z
      .number()
      .nullable()
      .describe('What is found now. Null: it is not watched, has no number, or nothing was measured.'),
    text: z
      .string()
      .nullable()
      .describe('The same as a sentence. Null: not watched, or not to be found out.'),
  })
  .meta({ id: 'AlertRule', description: 'One thing that is watched, and how it stands.' });

const sending = z
  .strictObject({
    status: z.enum(['pending', 'sent', 'failed']).describe('`failed`: given up after five attempts.'),
    attempts: z.int().describe('Attempts made.'),
    error: z
      .string()
      .nullable()
      .describe('What went wrong with the last one. Null: nothing, or none was made.'),
    sent_at: time.nullable().describe('When it was taken. Null: not so far.'),
  })
  .nullable();

const message = z
  .strictObject({
    id: id.describe('Its id, sent as `webhook-id`: the same over all attempts.'),
    kind,
    status: z
      .enum(['firing', 'still_firing', 'resolved'])
      .describe('`still_firing` tells again, once a day, of what is still wrong.'),
    text: z.string().describe('What was found, as a sentence.'),
    value: z.number().nullable().describe('What was found. Null: it has no number.'),
    threshold: z.number().nullable().describe('As it was then.'),
    created_at: time.describe('When it was decided to tell.'),
    webhook: sending.describe('How the webhook fared. Null: there was none to send.'),
    email: sending.describe('How the e-mail fared. Null: there was none to send.'),
  })
  .meta({ id: 'AlertMessage', description: 'What was told, and how it was sent.' });

export const alerts = z
  .strictObject({
    webhook_url: z.string().nullable().describe('Where alerts are posted. Null: nowhere.'),
    emails: z.array(z.string()).describe('Who gets an e-mail.'),
    email_available: z.boolean().describe('Whether the daemon has a mail server (SMTP_URL).'),
    rules: z.array(rule).describe('Every kind, watched or not.'),
    messages: z.array(message).describe('What was told, newest first, 50 at most.'),
  })
  .meta({
    id: 'Alerts',
    description: 'Of what an organization is told when it is wrong, and how.',
    examples: [
      {
        webhook_url: 'https://example.com/alerts',
        emails: ['ops@example.com'],
        email_available: true,
        rules: [
          {
            kind: 'failure_rate',
            title: 'Calls fail',
            unit: 'percent',
            enabled: true,
            threshold: 20,
            window_minutes: 60,
            hold_minutes: 0,
            status: 'firing',
            since: '2026-03-01T12:00:00.000Z',
            value: 40,
            text: '4 of 10 calls that ended in the last hour failed (40 %), by carrier_error.',
          },
        ],
        messages: [
          {
            id: '0199b0c9-8f10-7c3a-9d52-4b7f6a1e0c21',
            kind: 'failure_rate',
            status: 'firing',
            text: '4 of 10 calls that ended in the last hour failed (40 %), by carrier_error.',
            value: 40,
            threshold: 20,
            created_at: '2026-03-01T12:00:00.000Z',
            webhook: { status: 'sent', attempts: 1, error: null, sent_at: '2026-03-01T12:00:01.000Z' },
            email: null,
          },
        ],
      },
    ],
  });

const outcome = z
  .strictObject({ error: z.string().nullable().describe('Why it was not taken. Null: it was.') })
  .nullable();

export const alertTest = z
  .strictObject({
    webhook: outcome.describe('Null: no webhook is set.'),
    email: outcome.describe('Null: no address is set.'),
  })
  .meta({
    id: 'AlertTest',
    description: 'What came of a test of the ways that alerts take.',
    examples: [{ webhook: { error: null }, email: { error: 'the mail server refuses the credentials' } }],
  });

const part = z
  .looseObject({
    state: z
      .enum(['ok', 'warn', 'down'])
      .describe('`warn`: look at it; `down`: calls cannot be led, or fail.'),
    text: z.string().describe('One or two sentences for people. Their wording may change.'),
  })
  .describe('Beside these two, numbers of the part, which may change.');

export const health = z
  .strictObject({
    state: z.enum(['ok', 'warn', 'down']).describe('As the part that does worst.'),
    calls: part.describe(
      'The last 20 calls that ended, of the last 24 hours: `warn` where three failed or half of them, `down` where three failed that are half, `ok` again after five in a row that did not.',
    ),
    carrier: part.describe('Whether the carrier answers and takes the credentials.'),
    model: part.describe('Whether the speech models can be used.'),
    queue: part.describe('Whether webhooks go out in time.'),
    disk: part.describe('The disk of the data folder, and whether the database is sound.'),
    threads: part.describe('The threads that carry calls.'),
  })
  .meta({
    id: 'Health',
    description: 'How the line stands, part by part.',
    examples: [
      {
        state: 'warn',
        calls: { state: 'warn', text: '3 of the last 20 calls failed, all of them by carrier_error.' },
        carrier: { state: 'ok', text: 'twilio answers and takes the credentials.' },
        model: { state: 'ok', text: 'gpt-realtime-2.1 can be used.' },
        queue: { state: 'ok', text: 'Webhooks go out directly; nothing waits.' },
        disk: { state: 'ok', text: '81 GB free.' },
        threads: { state: 'ok', text: '2 calls on 1 thread, on time.' },
      },
    ],
  });
