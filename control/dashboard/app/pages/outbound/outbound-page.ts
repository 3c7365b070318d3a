// Outbound calls: a number tried, the rules, the do-not-call list, what was refused.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { OutboundAnswer, OutboundRules, RefusedCall } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { words } from '../../format.ts';
import { codeWords, GATE_CODES, typedNumber } from '../../forms/outbound-form.ts';
import { Button } from '../../ui/button.ts';
import { EmptyState, ErrorNote, Loaded, Skeleton } from '../../ui/feedback.ts';
import { Field, Select } from '../../ui/field.ts';
import { useAction, useLoad, usePages } from '../../ui/load.ts';
import { Facts, Page, Section } from '../../ui/page.ts';
import { Badge } from '../../ui/status.ts';
import { PagedTable } from '../../ui/table.ts';
import { Tabs } from '../../ui/tabs.ts';
import { Phone, Time } from '../../ui/values.ts';
import { DoNotCall } from './do-not-call.ts';
import { Rules } from './rules.ts';

function Answer(props: { answer: OutboundAnswer }) {
  const { answer } = props;
  const times = answer.local_times.map(({ time }) => time).sort();
  const [first, last] = [times[0]?.slice(11), times.at(-1)?.slice(11)];
  const there = first === undefined ? 'Not known' : first === last ? first : `${first} to ${last}`;
  return html`<div class="stack">
    <p><${Badge} tone=${answer.allowed ? 'ok' : 'bad'}>${answer.allowed ? 'Would be called' : 'Would not be called'}<//> <${Phone} number=${answer.to} /></p>
    ${answer.refusals.map(({ code, reason }) => html`<p key=${code} class="small"><strong>${codeWords(code)}:</strong> ${reason}</p>`)}
    <${Facts} rows=${[
      ['Country', answer.country ?? 'None'],
      ['Kind', words(answer.kind)],
      ['There it is', there],
    ]} />
  </div>`;
}

function Try() {
  const [number, setNumber] = useState('');
  const [answer, setAnswer] = useState<OutboundAnswer | null>(null);
  const look = useAction(async () => setAnswer(await api.outbound.check({ to: typedNumber(number) })));
  const submit = (event: Event) => {
    event.preventDefault();
    void look.run();
  };
  return html`<${Section} title="Try a number" lead="What the rules say of it now. Nobody is called.">
    <form class="stack" novalidate onSubmit=${submit}>
      <${Field} label="Number to try" type="tel" value=${number} placeholder="+1 415 555 0123" onInput=${setNumber} />
      <div><${Button} type="submit" busy=${look.busy} disabled=${typedNumber(number) === ''}>Try it<//></div>
      <${ErrorNote} error=${look.error} title="It could not be tried." />
      <div role="status">${answer === null ? null : html`<${Answer} answer=${answer} />`}</div>
    </form>
  <//>`;
}

const ALL = [
  { value: '', label: 'Everything' },
  ...GATE_CODES.map((code) => ({ value: code, label: codeWords(code) })),
];

function Refused() {
  const [code, setCode] = useState('');
  const pages = usePages<RefusedCall>(
    (after) =>
      api.outbound.refused({
        limit: 50,
        ...(code === '' ? {} : { code: code as RefusedCall['code'] }),
        ...(after === undefined ? {} : { starting_after: after }),
      }),
    [code],
  );
  return html`<div class="stack">
    <div class="narrow"><${Select} label="Refused for" value=${code} options=${ALL} onChange=${setCode} /></div>
    <${PagedTable}
      pages=${pages}
      caption="Calls that were not placed, newest first"
      rowKey=${(one: RefusedCall) => one.id}
      empty=${html`<${EmptyState} icon="outbound" title="Nothing was refused">Calls that the rules do not let through stand here, with what spoke against them.<//>`}
      columns=${[
        {
          label: 'To',
          cell: (one: RefusedCall) =>
            one.to_number === null
              ? html`<span class="dim">Erased, …${one.last4}</span>`
              : html`<${Phone} number=${one.to_number} />`,
        },
        {
          label: 'For',
          narrow: 'head',
          cell: (one: RefusedCall) => html`<${Badge} tone="warn">${codeWords(one.code)}<//>`,
        },
        { label: 'Reason', grow: true, cell: (one: RefusedCall) => one.reason },
        { label: 'Asked by', cell: (one: RefusedCall) => one.asked_by?.name ?? '–' },
        { label: 'When', cell: (one: RefusedCall) => html`<${Time} iso=${one.created_at} />` },
      ]}
    />
  </div>`;
}

type Part = 'rules' | 'list' | 'refused';

export function OutboundPage() {
  const [part, setPart] = useState<Part>('rules');
  const rules = useLoad<OutboundRules>((signal) => api.outbound.rules({ signal }), []);
  const form = html`<${Loaded} load=${rules} title="The rules could not be loaded." skeleton=${html`<${Skeleton} lines=${3} height="card" />`}>
    ${(now: OutboundRules) => html`<${Rules} rules=${now} onSaved=${rules.set} />`}
  <//>`;
  return html`<${Page} title="Outbound" lead="Whom agents may call, when and how often. What is refused here is dialled by nobody.">
    <div class="with-aside">
      <div>
        <${Tabs}
          label="Outbound calls"
          chosen=${part}
          onChange=${setPart}
          tabs=${[
            { name: 'rules', label: 'Rules', panel: form },
            { name: 'list', label: 'Do not call', panel: html`<${DoNotCall} />` },
            // Read anew each time: calls are refused meanwhile.
            { name: 'refused', label: 'Refused', panel: part === 'refused' ? html`<${Refused} />` : null },
          ]}
        />
      </div>
      <div><${Try} /></div>
    </div>
  <//>`;
}
