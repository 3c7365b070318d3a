// Alerts: what is watched and how it stands, who is told and by which way, and what was told.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { Alerts, AlertTest } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { fieldError, toFailure } from '../failure.ts';
import { sentence } from '../format.ts';
import {
  changedRules,
  KIND_WORDS,
  type RuleForm,
  readEmails,
  ruleFaults,
  ruleForm,
  standing,
  wayFaults,
} from '../forms/alert-form.ts';
import { attemptError } from '../forms/webhook-words.ts';
import { may } from '../session.ts';
import { Button } from '../ui/button.ts';
import { ErrorNote, Loaded, Note, Skeleton } from '../ui/feedback.ts';
import { Checkbox, Field } from '../ui/field.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { Page, Section } from '../ui/page.ts';
import { Badge } from '../ui/status.ts';
import { Table } from '../ui/table.ts';
import { toast } from '../ui/toast.ts';
import { Time } from '../ui/values.ts';

type Message = Alerts['messages'][number];
type Rule = Alerts['rules'][number];

function RuleRow(props: {
  rule: Rule;
  form: RuleForm;
  faults: ReturnType<typeof ruleFaults>;
  onChange: (form: RuleForm) => void;
}) {
  const { rule, form, faults, onChange } = props;
  const words = KIND_WORDS[rule.kind];
  const { label, tone } = standing(rule);
  const number = (name: 'threshold' | 'window' | 'hold', title: string) =>
    html`<${Field} label=${title} value=${form[name]} error=${faults[name]} onInput=${(value: string) => onChange({ ...form, [name]: value })} />`;
  return html`<li class="alert-rule">
    <div class="alert-head">
      <${Checkbox} label=${html`<strong>${rule.title}</strong>`} checked=${form.enabled} onChange=${(enabled: boolean) => onChange({ ...form, enabled })} />
      <${Badge} tone=${tone}>${label}<//>
    </div>
    <p class="dim small">${words.lead}</p>
    ${rule.text === null ? null : html`<p class="small">${rule.text}${rule.status === 'ok' || rule.since === null ? null : html` <span class="dim">Since <${Time} iso=${rule.since} />.</span>`}</p>`}
    ${
      form.enabled
        ? html`<div class="alert-numbers">
            ${words.threshold === null ? null : number('threshold', words.threshold)}
            ${words.window === null ? null : number('window', words.window)}
            ${number('hold', 'Minutes it must last')}
          </div>`
        : null
    }
  </li>`;
}

function Rules(props: { alerts: Alerts; onSaved: (alerts: Alerts) => void }) {
  const { alerts } = props;
  const [forms, setForms] = useState<readonly RuleForm[]>(() => alerts.rules.map(ruleForm));
  const [tried, setTried] = useState(false);
  const changed = changedRules(forms, alerts.rules);
  const faults = forms.map(ruleFaults);
  const save = useAction(async () => {
    const saved = await api.alerts.update({ rules: changed });
    props.onSaved(saved);
    setForms(saved.rules.map(ruleForm));
    setTried(false);
    toast('Saved. The daemon looks twice a minute.');
  });
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (faults.every((one) => Object.keys(one).length === 0)) void save.run();
  };
  return html`<${Section} title="What is watched" lead="What is wrong for as long as you say is told once; when it is well again, that is told too. What stays wrong is told again each day.">
    <form class="stack" novalidate onSubmit=${submit}>
      <ul class="alert-rules">
        ${alerts.rules.map((rule, at) => {
          const form = forms[at] ?? ruleForm(rule);
          return html`<${RuleRow}
            key=${rule.kind}
            rule=${rule}
            form=${form}
            faults=${tried ? (faults[at] ?? {}) : {}}
            onChange=${(next: RuleForm) => setForms(forms.map((one, index) => (index === at ? next : one)))}
          />`;
        })}
      </ul>
      <${ErrorNote} error=${save.error} title="The rules were not saved." focus />
      ${may('admin') ? html`<div><${Button} kind="primary" type="submit" busy=${save.busy} disabled=${changed.length === 0}>Save the rules<//></div>` : null}
    </form>
  <//>`;
}

function outcomeLine(name: string, outcome: AlertTest['webhook']) {
  if (outcome === null) return null;
  return outcome.error === null
    ? html`<p><${Badge} tone="ok">Sent<//> ${name}: it was taken.</p>`
    : html`<p><${Badge} tone="bad">Not sent<//> ${name}: ${sentence(attemptError(outcome.error))}</p>`;
}

function Ways(props: { alerts: Alerts; onSaved: (alerts: Alerts) => void }) {
  const { alerts } = props;
  const [webhook, setWebhook] = useState(alerts.webhook_url ?? '');
  const [emails, setEmails] = useState(alerts.emails.join('\n'));
  const [tried, setTried] = useState(false);
  const [outcome, setOutcome] = useState<AlertTest | null>(null);
  const faults = wayFaults(webhook, emails);
  const isChanged =
    webhook.trim() !== (alerts.webhook_url ?? '') || readEmails(emails).join() !== alerts.emails.join();
  const save = useAction(async () => {
    const saved = await api.alerts.update({
      webhook_url: webhook.trim() === '' ? null : webhook.trim(),
      emails: readEmails(emails),
    });
    props.onSaved(saved);
    setOutcome(null);
    toast('Saved. Send a test to see that it arrives.');
  });
  const test = useAction(async () => setOutcome(await api.alerts.test()));
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(faults).length === 0) void save.run();
  };
  const nobody = alerts.webhook_url === null && alerts.emails.length === 0;
  const atEmails = /^emails/.test(toFailure(save.error).param ?? '');
  const emailError = (tried ? faults.emails : null) ?? (atEmails ? toFailure(save.error).message : null);
  const urlError = (tried ? faults.webhook : null) ?? fieldError(save.error, 'webhook_url');
  return html`<${Section} title="Who is told">
    <form class="stack" novalidate onSubmit=${submit}>
      <${Field} label="Webhook" type="url" mono optional value=${webhook} placeholder="https://example.com/alerts" error=${urlError} help="Signed with the default secret of the page Webhooks." onInput=${setWebhook} />
      <${Field} label="E-mail" optional rows=${3} value=${emails} placeholder="ops@example.com" error=${emailError} help="One address a line, ten at most." onInput=${setEmails} />
      ${
        alerts.email_available || (readEmails(emails).length === 0 && alerts.emails.length === 0)
          ? null
          : html`<${Note} kind="warn" title="There is no mail server."><p>E-mail is sent once the daemon is started with <code>SMTP_URL</code> and <code>SMTP_FROM</code>.</p><//>`
      }
      ${urlError !== null || emailError !== null ? null : html`<${ErrorNote} error=${save.error} title="This was not saved." focus />`}
      ${
        may('admin')
          ? html`<div class="row">
              <${Button} kind="primary" type="submit" busy=${save.busy} disabled=${!isChanged}>Save<//>
              <${Button} busy=${test.busy} disabled=${nobody || isChanged} onClick=${() => void test.run()}>Send a test<//>
            </div>`
          : html`<p class="dim small">Owners change what is watched and who is told.</p>`
      }
      ${nobody ? html`<p class="dim small">Until somebody is named here, alerts are shown on this page alone.</p>` : null}
      <div class="stack" role="status">
        ${outcome === null ? null : [outcomeLine('Webhook', outcome.webhook), outcomeLine('E-mail', outcome.email)]}
      </div>
      <${ErrorNote} error=${test.error} title="The test was not sent." />
    </form>
  <//>`;
}

const TOLD = {
  firing: { label: 'Wrong', tone: 'bad' },
  still_firing: { label: 'Still so', tone: 'bad' },
  resolved: { label: 'Over', tone: 'ok' },
} as const;

function wayCell(sending: Message['webhook']) {
  if (sending === null) return html`<span class="dim">–</span>`;
  if (sending.status === 'sent') return 'Sent';
  const tries = sending.attempts === 1 ? 'after one try' : `after ${sending.attempts} tries`;
  if (sending.status === 'failed')
    return html`Given up ${tries}: ${sentence(attemptError(sending.error ?? ''))}`;
  return sending.attempts === 0
    ? 'On its way'
    : html`Tried again: ${sentence(attemptError(sending.error ?? ''))}`;
}

function Told(props: { alerts: Alerts }) {
  const { messages, rules } = props.alerts;
  const titleOf = (kind: string) => rules.find((rule) => rule.kind === kind)?.title ?? kind;
  return html`<${Section} title="What was told">
    ${
      messages.length === 0
        ? html`<p class="dim">Nothing so far.</p>`
        : html`<${Table}
            caption="Alerts that were told, newest first"
            rows=${messages}
            rowKey=${(message: Message) => message.id}
            columns=${[
              { label: 'What', cell: (message: Message) => titleOf(message.kind) },
              {
                label: 'State',
                narrow: 'head',
                cell: ({ status }: Message) =>
                  html`<${Badge} tone=${TOLD[status].tone}>${TOLD[status].label}<//>`,
              },
              { label: 'When', cell: (message: Message) => html`<${Time} iso=${message.created_at} />` },
              { label: 'Found', grow: true, cell: (message: Message) => message.text },
              { label: 'Webhook', cell: (message: Message) => wayCell(message.webhook) },
              { label: 'E-mail', cell: (message: Message) => wayCell(message.email) },
            ]}
          />`
    }
  <//>`;
}

export function AlertsPage() {
  const alerts = useLoad<Alerts>((signal) => api.alerts.get({ signal }), []);
  return html`<${Page} title="Alerts" lead="Be told when calls fail, a carrier or model is down, money runs or the disk fills up.">
    <${Loaded} load=${alerts} title="The alerts could not be loaded." skeleton=${html`<${Skeleton} lines=${3} height="card" />`}>
      ${(now: Alerts) => html`<div class="with-aside">
        <div>
          <${Rules} alerts=${now} onSaved=${alerts.set} />
          <${Told} alerts=${now} />
        </div>
        <div><${Ways} alerts=${now} onSaved=${alerts.set} /></div>
      </div>`}
    <//>
  <//>`;
}
