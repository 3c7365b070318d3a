// `offhook health`, `offhook alerts`: how the line stands, what is watched, and whom that is told.
import type { Command } from 'commander';
import type { Alerts, AlertsChange } from '../../sdk/index.ts';
import { type Context, collect, type Run } from '../context.ts';
import { Ending, EXIT, UsageError } from '../exit.ts';
import { when } from '../output.ts';

type Rule = Alerts['rules'][number];
type RuleChange = NonNullable<AlertsChange['rules']>[number];

const COLORS = { ok: 'green', warn: 'yellow', down: 'red' } as const;
const UNITS: Readonly<Record<NonNullable<Rule['unit']>, string>> = {
  percent: ' %',
  milliseconds: ' ms',
  dollars: ' dollars',
  deliveries: '',
  megabytes: ' MB',
};

const amount = (value: number | null, unit: Rule['unit']) =>
  value === null ? '–' : `${value}${unit === null ? '' : UNITS[unit]}`;

function paintStatus({ output }: Context, { enabled, status }: Rule): string {
  if (!enabled) return output.paint('dim', 'off');
  return output.paint(status === 'ok' ? 'green' : status === 'firing' ? 'red' : 'yellow', status);
}

function show(context: Context, alerts: Alerts): void {
  const { output, now } = context;
  if (output.json) {
    output.data(alerts);
    return;
  }
  output.facts([
    ['webhook', alerts.webhook_url],
    ['e-mail', alerts.emails.length === 0 ? null : alerts.emails.join(', ')],
    ['mail server', alerts.email_available ? 'yes' : 'none (SMTP_URL)'],
  ]);
  output.line();
  output.table(
    ['what', 'status', 'now', 'threshold', 'minutes', 'hold'],
    alerts.rules.map((rule) => [
      rule.kind,
      paintStatus(context, rule),
      amount(rule.value, rule.unit),
      amount(rule.threshold, rule.unit),
      rule.window_minutes === null ? '–' : String(rule.window_minutes),
      String(rule.hold_minutes),
    ]),
    'Nothing can be watched.',
  );
  if (alerts.messages.length === 0) return;
  output.line();
  output.table(
    ['told', '', 'what', 'by webhook', 'by e-mail'],
    alerts.messages
      .slice(0, 10)
      .map((message) => [
        when(message.created_at, now()),
        message.status,
        message.text,
        message.webhook === null ? '–' : (message.webhook.error ?? message.webhook.status),
        message.email === null ? '–' : (message.email.error ?? message.email.status),
      ]),
    'Nothing was told.',
  );
}

/** `failure_rate`, or with numbers: `failure_rate:threshold=30,window=15,hold=5`. */
function readRule(text: string, enabled: boolean): RuleChange {
  const [kind = '', numbers = ''] = text.split(/:(.*)/s);
  const rule: Record<string, unknown> = { kind, enabled };
  for (const one of numbers === '' ? [] : numbers.split(',')) {
    const [, name = '', value = ''] = /^(threshold|window|hold)=([\d.]+)$/.exec(one.trim()) ?? [];
    if (name === '')
      throw new UsageError(`"${text}": a rule is a kind, and after a colon threshold=, window=, hold=.`);
    rule[name === 'threshold' ? name : `${name}_minutes`] = Number(value);
  }
  return rule as RuleChange;
}

export function addAlertCommands(program: Command, run: Run): void {
  program
    .command('health')
    .description('how the line stands, part by part; exit code 1 where something is down')
    .action(
      run(async ({ offhook, output }) => {
        const health = await offhook.health();
        const { state, ...parts } = health;
        if (output.json) output.data(health);
        else {
          output.table(
            ['', '', ''],
            Object.entries(parts).map(([name, part]) => [
              name,
              output.paint(COLORS[part.state], part.state),
              part.text,
            ]),
            'Nothing is known.',
          );
        }
        if (state === 'down') throw new Ending(EXIT.failed);
      }),
    );

  const alerts = program.command('alerts').description('of what somebody is told when it is wrong');
  alerts
    .command('show', { isDefault: true })
    .description('what is watched, how it stands, and what was told')
    .action(run(async (context) => show(context, await context.offhook.alerts.get())));
  alerts
    .command('set')
    .description('what is watched, and whom that is told; what is not named stays')
    .option('--watch <rule>', 'a kind, or kind:threshold=20,window=60,hold=5; may be given again', collect)
    .option('--ignore <kind>', 'watch it no more; may be given again', collect)
    .option('--webhook <url>', 'where alerts are posted, or none')
    .option('--email <address>', 'who gets them, or none; may be given again', collect)
    .action(
      run(async (context, o: { watch?: string[]; ignore?: string[]; webhook?: string; email?: string[] }) => {
        const rules = [
          ...(o.watch ?? []).map((rule) => readRule(rule, true)),
          ...(o.ignore ?? []).map((kind) => readRule(kind, false)),
        ];
        const emails = o.email?.filter((address) => address !== 'none');
        const changed = await context.offhook.alerts.update({
          ...(o.webhook === undefined ? {} : { webhook_url: o.webhook === 'none' ? null : o.webhook }),
          ...(emails === undefined ? {} : { emails }),
          ...(rules.length === 0 ? {} : { rules }),
        });
        show(context, changed);
      }),
    );
  alerts
    .command('test')
    .description('send a test on each way that is set, and say what came of it')
    .action(
      run(async ({ offhook, output }) => {
        const outcome = await offhook.alerts.test();
        const ways = Object.entries(outcome);
        if (output.json) output.data(outcome);
        else
          for (const [way, one] of ways)
            if (one !== null)
              output.line(
                `${way}: ${one.error === null ? output.paint('green', 'sent') : output.paint('red', one.error)}`,
              );
        if (ways.some(([, one]) => one !== null && one.error !== null)) throw new Ending(EXIT.failed);
      }),
    );
}
