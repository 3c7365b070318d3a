// The do-not-call list: looked through, added to, from a file too, taken off.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { DoNotCallEntry } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { counted } from '../../format.ts';
import { typedNumber } from '../../forms/outbound-form.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { EmptyState, ErrorNote, Note } from '../../ui/feedback.ts';
import { Field } from '../../ui/field.ts';
import { useAction, usePages } from '../../ui/load.ts';
import { PagedTable } from '../../ui/table.ts';
import { toast } from '../../ui/toast.ts';
import { Phone, Time } from '../../ui/values.ts';

const SOURCES: Readonly<Record<DoNotCallEntry['source'], string>> = {
  api: 'By the API',
  csv: 'From a file',
  said: 'Said on a call',
  dashboard: 'Entered here',
  campaign: 'From a campaign',
};
const MOST_BYTES = 256 * 1024;

export function DoNotCall() {
  const [number, setNumber] = useState('');
  const [reason, setReason] = useState('');
  const [report, setReport] = useState<{
    listed: number;
    lines: number;
    refused: { line: number; text: string }[];
  } | null>(null);
  const pages = usePages<DoNotCallEntry>(
    (after) => api.doNotCall.list({ limit: 50, ...(after === undefined ? {} : { starting_after: after }) }),
    [],
  );
  const add = useAction(async () => {
    await api.doNotCall.add({
      numbers: [typedNumber(number)],
      ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    });
    setNumber('');
    setReason('');
    pages.reload();
    toast('It is not called any more.');
  });
  const read = useAction(async (file: File) => {
    if (file.size > MOST_BYTES) throw new Error('The file has more than 256 KB: send it in parts.');
    setReport(await api.doNotCall.import(await file.text()));
    pages.reload();
  });
  const remove = useAction(async (one: DoNotCallEntry) => {
    const answer = await confirm({
      title: 'Call this number again?',
      text: `${one.number ?? `The number that ends in ${one.last4}`} goes off the list, and may be called.`,
      action: 'Take it off the list',
      danger: true,
    });
    if (!answer) return;
    await api.doNotCall.remove(one.id);
    pages.update((items) => items.filter(({ id }) => id !== one.id));
  });
  const choose = (event: Event) => {
    const input = event.target as HTMLInputElement;
    const [file] = input.files ?? [];
    if (file !== undefined) void read.run(file);
    input.value = '';
  };
  return html`<div class="stack">
    <form class="stack" novalidate onSubmit=${(event: Event) => {
      event.preventDefault();
      void add.run();
    }}>
      <div class="alert-numbers">
        <${Field} label="Number" type="tel" value=${number} placeholder="+1 415 555 0123" onInput=${setNumber} />
        <${Field} label="Why" optional value=${reason} onInput=${setReason} />
      </div>
      <${ErrorNote} error=${add.error ?? read.error ?? remove.error} title="That was not done." />
      <div class="row">
        <${Button} kind="primary" type="submit" needs="operate" busy=${add.busy} disabled=${typedNumber(number) === ''}>Do not call it<//>
        <label class="button plain outbound-file">Numbers of a CSV file<input type="file" class="sr-only" accept=".csv,text/csv,text/plain" onChange=${choose} /></label>
      </div>
      <div role="status">
        ${
          report === null
            ? null
            : html`<${Note} kind=${report.refused.length === 0 ? 'ok' : 'warn'} title=${`${counted(report.listed, 'number')} of ${counted(report.lines, 'line')} on the list`}>
                ${
                  report.refused.length === 0
                    ? null
                    : html`<p>No number with a country code in ${report.refused.length === 1 ? 'line' : 'lines'} ${report.refused
                        .slice(0, 20)
                        .map(({ line }) => line)
                        .join(', ')}.</p>`
                }
              <//>`
        }
      </div>
    </form>
    <${PagedTable}
      pages=${pages}
      caption="Numbers that are not called, newest first"
      rowKey=${(one: DoNotCallEntry) => one.id}
      empty=${html`<${EmptyState} icon="outbound" title="Every number may be called">Numbers that are entered here, come by the API, or are said on a call stand here.<//>`}
      columns=${[
        {
          label: 'Number',
          grow: true,
          cell: (one: DoNotCallEntry) =>
            one.number === null
              ? html`<span class="dim">Erased, …${one.last4}</span>`
              : html`<${Phone} number=${one.number} />`,
        },
        {
          label: 'From',
          cell: (one: DoNotCallEntry) =>
            one.call_id === null
              ? SOURCES[one.source]
              : html`<a href=${`/calls/${one.call_id}`}>${SOURCES[one.source]}</a>`,
        },
        { label: 'Why', cell: (one: DoNotCallEntry) => one.reason ?? '–' },
        { label: 'Since', cell: (one: DoNotCallEntry) => html`<${Time} iso=${one.created_at} />` },
        {
          label: 'Off',
          hideLabel: true,
          cell: (one: DoNotCallEntry) =>
            html`<${Button} small icon="trash" needs="admin" label=${`Take ${one.number ?? one.last4} off the list`} onClick=${() => void remove.run(one)} />`,
        },
      ]}
    />
  </div>`;
}
