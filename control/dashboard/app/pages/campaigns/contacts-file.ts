// Contacts out of a file: dropped or chosen, looked at by the daemon before anything is added, then added.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { ImportReport } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { count, counted } from '../../format.ts';
import { Button } from '../../ui/button.ts';
import { ErrorNote, Note } from '../../ui/feedback.ts';
import { Field } from '../../ui/field.ts';
import { useAction } from '../../ui/load.ts';
import { Table } from '../../ui/table.ts';
import { toast } from '../../ui/toast.ts';
import { Phone } from '../../ui/values.ts';

const SHOWN_LINES = 8;

/** Country and dry run as the request takes them. */
const queryOf = (country: string, dry: boolean) => ({
  ...(country.trim() === '' ? {} : { country: country.trim() }),
  ...(dry ? { dry_run: true } : {}),
});

export function ContactsFile(props: { campaignId: string; onAdded: () => void }) {
  const [country, setCountry] = useState('');
  const [file, setFile] = useState<{ name: string; text: string } | null>(null);
  const [report, setReport] = useState<ImportReport | null>(null);
  const [isOver, setOver] = useState(false);
  const look = useAction(async (name: string, text: string, of: string) => {
    setFile({ name, text });
    setReport(null);
    setReport(await api.campaigns.importContacts(props.campaignId, text, queryOf(of, true)));
  });
  const add = useAction(async () => {
    if (file === null) return;
    const done = await api.campaigns.importContacts(props.campaignId, file.text, queryOf(country, false));
    toast(
      `${counted(done.added, 'contact')} added${done.duplicates === 0 ? '' : `, ${count(done.duplicates)} there already`}.`,
    );
    setFile(null);
    setReport(null);
    props.onAdded();
  });
  const take = async (chosen: File | undefined | null) => {
    if (chosen) await look.run(chosen.name, await chosen.text(), country);
  };
  return html`<div class="stack">
    <div
      class=${`drop${isOver ? ' over' : ''}`}
      onDragOver=${(event: DragEvent) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave=${() => setOver(false)}
      onDrop=${(event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        void take(event.dataTransfer?.files[0]);
      }}
    >
      <label class="button plain">
        <span>Choose a file of CSV</span>
        <input
          class="sr-only"
          type="file"
          accept=".csv,text/csv,text/plain"
          onChange=${(event: Event) => {
            const input = event.target as HTMLInputElement;
            const chosen = input.files?.[0];
            // So that the same file, corrected, can be chosen again.
            void take(chosen).then(() => {
              input.value = '';
            });
          }}
        />
      </label>
      <span class="dim">or drop it here. The first line names the columns: one is <code>phone</code>, the others are told to the agent.</span>
    </div>
    <div class="narrow-field">
      <${Field}
        label="Country of numbers without a country code"
        optional
        value=${country}
        placeholder="DE"
        maxLength=${2}
        onInput=${setCountry}
        onBlur=${() => {
          if (file !== null) void look.run(file.name, file.text, country);
        }}
      />
    </div>
    ${look.busy ? html`<p class="dim" role="status">Looking at the file…</p>` : null}
    <${ErrorNote} error=${look.error} title="The file could not be read." focus />
    ${
      report === null || file === null
        ? null
        : html`<${Looked} name=${file.name} report=${report} />
        <p class="row-actions"><${Button} kind="primary" busy=${add.busy} disabled=${report.added === 0} onClick=${() => add.run()}>${`Add ${counted(report.added, 'contact')}`}<//>
          <${Button} kind="quiet" onClick=${() => setFile(null)}>Leave it<//></p>`
    }
    <${ErrorNote} error=${add.error} title="The contacts were not added." focus />
  </div>`;
}

/** What a file holds, before it is added. */
function Looked(props: { name: string; report: ImportReport }) {
  const { report } = props;
  const columns = [
    {
      label: 'Number',
      cell: (row: ImportReport['preview'][number]) => html`<${Phone} number=${row.to_number} />`,
    },
    ...report.context_columns.slice(0, 5).map((name) => ({
      label: name,
      cell: (row: ImportReport['preview'][number]) => String(row.context[name] ?? ''),
    })),
    { label: 'Zone', cell: (row: ImportReport['preview'][number]) => row.time_zones[0] ?? '–' },
  ];
  return html`<section aria-label="Preview of the file" class="stack">
    <p role="status"><strong>${props.name}</strong>: ${counted(report.lines, 'line')}, numbers from the column <code>${report.number_column}</code>; ${counted(report.added, 'contact')} can be added, ${count(report.duplicates)} twice, ${count(report.refused)} not understood.</p>
    ${
      report.not_taken.length === 0
        ? null
        : html`<${Note} kind="warn" title="Lines that are left out">
            <ul>${report.not_taken.slice(0, SHOWN_LINES).map((one) => html`<li key=${one.line}>Line ${one.line}: ${one.message}</li>`)}</ul>
            ${report.duplicates + report.refused > SHOWN_LINES ? html`<p>And ${count(report.duplicates + report.refused - SHOWN_LINES)} more.</p>` : null}
          <//>`
    }
    ${report.preview.length === 0 ? null : html`<${Table} caption="The first contacts of the file" dense columns=${columns} rows=${report.preview} rowKey=${(row: ImportReport['preview'][number]) => row.to_number} />`}
  </section>`;
}
