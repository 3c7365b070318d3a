// Settings, what is kept: days by kind, erasing a person by number, receipts, legal holds.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { AgentKeptDays, Erasure, LegalHold, Retention } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { fieldError } from '../../failure.ts';
import { phone } from '../../format.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { ErrorNote, Loaded, Note } from '../../ui/feedback.ts';
import { Field } from '../../ui/field.ts';
import { type Load, useAction, useLoad } from '../../ui/load.ts';
import { Page, Section } from '../../ui/page.ts';
import { Badge } from '../../ui/status.ts';
import { Table } from '../../ui/table.ts';
import { toast } from '../../ui/toast.ts';
import { Time } from '../../ui/values.ts';
import { type Days, daysText, KINDS, type Kind, readDays, shortened } from './days.ts';
import { ReceiptDialog, subjectText } from './receipt.ts';

const KIND_TEXT: Readonly<Record<Kind, { label: string; help: string }>> = {
  recordings: { label: 'Recordings', help: 'The files.' },
  transcripts: { label: 'Transcripts', help: 'What was said, and what a call is found by.' },
  events: { label: 'Events', help: 'With their deliveries.' },
  deliveries: { label: 'Deliveries', help: 'What webhooks sent, and what was answered.' },
  calls: { label: 'Calls', help: 'All that tells of anybody. Times, lengths and money stay.' },
};

function DaysForm(props: { retention: Retention; onChange: (retention: Retention) => void }) {
  const now: Days = props.retention.default;
  const [texts, setTexts] = useState(
    () =>
      Object.fromEntries(KINDS.map((kind) => [kind, String(now[`${kind}_days`] ?? '')])) as Record<
        Kind,
        string
      >,
  );
  const days = KINDS.map((kind) => [kind, readDays(texts[kind])] as const);
  const wrong = days.some(([, value]) => value === undefined);
  const after = Object.fromEntries(days.map(([kind, value]) => [`${kind}_days`, value ?? null])) as Days;
  const save = useAction(async () => {
    props.onChange(await api.retention.update(after));
    toast('Saved. What is older goes within the hour.');
  });
  const submit = async (event: Event) => {
    event.preventDefault();
    if (wrong) return;
    const less = shortened(now, after);
    if (less.length > 0) {
      const sure = await confirm({
        title: 'Keep less?',
        text: html`<p>What is older goes within the hour, for good:</p>
          <ul>${less.map((kind) => html`<li key=${kind}>${KIND_TEXT[kind].label}: ${daysText(after[`${kind}_days`])}</li>`)}</ul>
          <p>What a legal hold covers stays.</p>`,
        action: 'Keep less',
        danger: true,
      });
      if (!sure) return;
    }
    void save.run();
  };
  return html`<form class="stack narrow" onSubmit=${submit}>
    ${KINDS.map(
      (kind) => html`<${Field}
        key=${kind}
        label=${`${KIND_TEXT[kind].label}, days`}
        value=${texts[kind]}
        placeholder="for ever"
        error=${readDays(texts[kind]) === undefined ? 'A whole number of days, or nothing: for ever.' : fieldError(save.error, `${kind}_days`)}
        help=${KIND_TEXT[kind].help}
        onInput=${(value: string) => setTexts({ ...texts, [kind]: value })}
      />`,
    )}
    <${ErrorNote} error=${save.error} title="It was not saved." focus />
    <div><${Button} type="submit" busy=${save.busy}>Save<//></div>
  </form>`;
}

function Retained() {
  const retention = useLoad((signal) => api.retention.get({ signal }), []);
  return html`<${Section} title="For how long" lead="Days from the start of a call on, of all agents that have none of their own. Nothing is deleted by age until you say so here.">
    <${Loaded} load=${retention} title="It could not be loaded.">
      ${(now: Retention) => html`<${DaysForm} retention=${now} onChange=${retention.set} />
        ${now.agents.length === 0 ? null : html`<${AgentDays} agents=${now.agents} onChange=${retention.set} />`}`}
    <//>
  <//>`;
}

function AgentDays(props: { agents: readonly AgentKeptDays[]; onChange: (retention: Retention) => void }) {
  const names = useLoad(async (signal) => (await api.agents.list({ limit: 100 }, { signal })).data, []);
  const nameOf = (id: string) => names.data?.find((agent) => agent.id === id)?.name ?? id.slice(0, 8);
  const remove = (id: string) =>
    confirm({
      title: `Take the days of ${nameOf(id)} away?`,
      text: html`<p>Those above hold for its calls then.</p>`,
      action: 'Take them away',
      run: async () => props.onChange(await api.retention.removeAgent(id)),
    });
  return html`<${Table}
    caption="Agents with days of their own"
    showCaption
    rows=${props.agents}
    rowKey=${(row: AgentKeptDays) => row.agent_id}
    columns=${[
      {
        label: 'Agent',
        grow: true,
        cell: (row: AgentKeptDays) => html`<a href=${`/agents/${row.agent_id}`}>${nameOf(row.agent_id)}</a>`,
      },
      ...KINDS.map((kind) => ({
        label: KIND_TEXT[kind].label,
        cell: (row: AgentKeptDays) => daysText(row.days[`${kind}_days`]),
      })),
      {
        label: 'Actions',
        hideLabel: true,
        cell: (row: AgentKeptDays) =>
          html`<${Button} small kind="quiet" label=${`Take the days of ${nameOf(row.agent_id)} away`} onClick=${() => remove(row.agent_id)}>Remove<//>`,
      },
    ]}
  />`;
}

function Erase(props: { onErased: (erasure: Erasure) => void }) {
  const [number, setNumber] = useState('');
  const [reason, setReason] = useState('');
  const [tried, setTried] = useState(false);
  const given = number.replaceAll(/[ ()./-]/g, '');
  const wrong = /^\+[1-9]\d{6,14}$/.test(given) ? null : 'With a plus and the country code: +14155550123.';
  const submit = (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (wrong !== null) return;
    let erasure: Erasure | null = null;
    void confirm({
      title: `Erase ${phone(given)}?`,
      text: html`<p>All calls with this number, both ways, and what campaigns, consents and refused calls say of it go, for good. If it is not to be called any more, that stays known without the number.</p>`,
      action: 'Erase',
      danger: true,
      run: async () => {
        const why = reason.trim() === '' ? {} : { reason: reason.trim() };
        erasure = await api.erasures.create({ number: given, ...why });
      },
    }).then((yes) => {
      if (!yes || erasure === null) return;
      setNumber('');
      setReason('');
      setTried(false);
      props.onErased(erasure);
    });
  };
  return html`<${Section} title="Erase a person" lead="By telephone number. What others said of the person on calls with somebody else is not found by it. A single call is erased on its page.">
    <form class="stack narrow" onSubmit=${submit}>
      <${Field} label="Number" type="tel" value=${number} placeholder="+14155550123" error=${tried ? wrong : null} onInput=${setNumber} />
      <${Field} label="Why" optional maxLength=${500} value=${reason} help="For the receipt, which stays: name nobody." onInput=${setReason} />
      <div><${Button} kind="danger" type="submit">Erase<//></div>
    </form>
  <//>`;
}

function Erasures(props: { load: Load<Erasure[]>; onShow: (erasure: Erasure) => void }) {
  return html`<${Section} title="Receipts" card=${false}>
    <${Loaded} load=${props.load} title="The receipts could not be loaded.">
      ${(rows: Erasure[]) =>
        rows.length === 0
          ? html`<p class="dim">Nothing has been erased.</p>`
          : html`<${Table}
              caption="Erasures"
              rows=${rows}
              rowKey=${(row: Erasure) => row.id}
              columns=${[
                { label: 'What', cell: (row: Erasure) => subjectText(row) },
                { label: 'Calls', numeric: true, cell: (row: Erasure) => row.counts.calls ?? 0 },
                { label: 'Asked for', cell: (row: Erasure) => html`<${Time} iso=${row.created_at} />` },
                { label: 'By', grow: true, cell: (row: Erasure) => row.requested_by.name },
                {
                  label: 'State',
                  cell: (row: Erasure) =>
                    row.state === 'done' ? html`<${Badge} tone="ok">Done<//>` : html`<${Badge}>Under way<//>`,
                },
                {
                  label: 'Actions',
                  hideLabel: true,
                  cell: (row: Erasure) =>
                    html`<${Button} small kind="quiet" label=${`Receipt ${row.id.slice(-6)}`} onClick=${() => props.onShow(row)}>Receipt<//>`,
                },
              ]}
            />`}
    <//>
  <//>`;
}

function Holds() {
  const holds = useLoad(async (signal) => (await api.legalHolds.list({ limit: 100 }, { signal })).data, []);
  const [number, setNumber] = useState('');
  const [reason, setReason] = useState('');
  const [tried, setTried] = useState(false);
  const given = number.replaceAll(/[ ()./-]/g, '');
  const wrongNumber = /^\+[1-9]\d{6,14}$/.test(given)
    ? null
    : 'With a plus and the country code: +14155550123.';
  const wrongReason = reason.trim() === '' ? 'Say why, for whoever finds it held.' : null;
  const hold = useAction(async () => {
    await api.legalHolds.create({ number: given, reason: reason.trim() });
    setNumber('');
    setReason('');
    setTried(false);
    holds.reload();
    toast('Held.');
  });
  const lift = (one: LegalHold) =>
    confirm({
      title: 'Lift the hold?',
      text: html`<p>${one.reason}. What it covers can be erased then, and what is older than it is kept goes within the hour.</p>`,
      action: 'Lift the hold',
      danger: true,
      run: async () => {
        await api.legalHolds.lift(one.id);
        holds.reload();
      },
    });
  return html`<${Section} title="Legal holds" lead="What one covers is neither erased nor deleted by age until it is lifted.">
    <${Loaded} load=${holds} title="The holds could not be loaded.">
      ${(rows: LegalHold[]) => {
        const inForce = rows.filter((row) => row.lifted_at === null);
        return inForce.length === 0
          ? html`<p class="dim">Nothing is held.</p>`
          : html`<ul class="plain-list">
              ${inForce.map(
                (row) => html`<li key=${row.id}>
                  <${Note} title=${row.number !== null ? phone(row.number) : row.call_id !== null ? 'A call' : 'Everything'}>
                    <p>${row.call_id === null ? null : html`<a href=${`/calls/${row.call_id}`}>The call</a>. `}${row.reason}, by ${row.created_by.name} <${Time} iso=${row.created_at} />.</p>
                    <p><${Button} small label=${`Lift the hold: ${row.reason}`} onClick=${() => lift(row)}>Lift<//></p>
                  <//>
                </li>`,
              )}
            </ul>`;
      }}
    <//>
    <details>
      <summary>Hold all calls with a number</summary>
      <form
        class="stack narrow"
        onSubmit=${(event: Event) => {
          event.preventDefault();
          setTried(true);
          if (wrongNumber === null && wrongReason === null) void hold.run();
        }}
      >
        <${Field} label="Number to hold" type="tel" value=${number} placeholder="+14155550123" error=${tried ? wrongNumber : null} onInput=${setNumber} />
        <${Field} label="Reason" maxLength=${500} value=${reason} error=${tried ? wrongReason : null} onInput=${setReason} />
        <${ErrorNote} error=${hold.error} title="It is not held." focus />
        <div><${Button} type="submit" busy=${hold.busy}>Hold<//></div>
      </form>
    </details>
  <//>`;
}

export function KeptPage() {
  const erasures = useLoad(async (signal) => (await api.erasures.list({ limit: 50 }, { signal })).data, []);
  const [receipt, setReceipt] = useState<Erasure | null>(null);
  return html`<${Page} title="What is kept" back=${{ href: '/settings', label: 'Settings' }}>
    <div class="with-aside">
      <div>
        <${Retained} />
        <${Erasures} load=${erasures} onShow=${setReceipt} />
      </div>
      <div>
        <${Erase}
          onErased=${(erasure: Erasure) => {
            setReceipt(erasure);
            erasures.reload();
          }}
        />
        <${Holds} />
      </div>
    </div>
    ${receipt === null ? null : html`<${ReceiptDialog} erasure=${receipt} onClose=${() => setReceipt(null)} />`}
  <//>`;
}
