// One campaign: how far it is, what it has come to, its contacts, its rules, and what starts and ends it.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import type { Campaign, CampaignReport } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { count, counted, percent, words } from '../../format.ts';
import {
  outcomeInWords,
  RETRIED,
  type Retried,
  shareDone,
  windowsInWords,
} from '../../forms/campaign-form.ts';
import type { PageProps } from '../../route-match.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { ErrorNote, Loaded, Note } from '../../ui/feedback.ts';
import { useAction, useLoad } from '../../ui/load.ts';
import { Facts, Page, Section } from '../../ui/page.ts';
import { navigate } from '../../ui/router.ts';
import { Table } from '../../ui/table.ts';
import { toast } from '../../ui/toast.ts';
import { Time } from '../../ui/values.ts';
import { CampaignStatus } from './campaigns-page.ts';
import { ContactsFile } from './contacts-file.ts';
import { ContactsTable } from './contacts-table.ts';
import { RulesForm } from './rules-form.ts';

/** A campaign that runs is looked at so often. */
const EVERY_MS = 2_000;

type Seen = { campaign: Campaign; report: CampaignReport; agent: string };

export function CampaignPage({ params }: PageProps) {
  const id = params.id ?? '';
  const load = useLoad<Seen>(
    async (signal) => {
      const [campaign, report] = await Promise.all([
        api.campaigns.get(id, { signal }),
        api.campaigns.report(id, { signal }),
      ]);
      const agent = await api.agents.get(campaign.agent_id, { signal });
      return { campaign, report, agent: agent.name };
    },
    [id],
  );
  const isMoving =
    load.data?.campaign.status === 'running' || (load.data?.campaign.contacts.calling ?? 0) > 0;
  useEffect(() => {
    if (!isMoving) return;
    const timer = setInterval(load.reload, EVERY_MS);
    return () => clearInterval(timer);
  }, [id, isMoving]);
  if (load.data === undefined)
    return html`<${Page} title="Campaign" back=${{ href: '/campaigns', label: 'Campaigns' }}><${Loaded} load=${load}>${() => null}<//><//>`;
  return html`<${Loaded} load=${load}>
    ${(seen: Seen) => html`<${Shown} seen=${seen} reload=${load.reload} onChange=${(campaign: Campaign) => load.set({ ...seen, campaign })} />`}
  <//>`;
}

function Shown(props: { seen: Seen; reload: () => void; onChange: (campaign: Campaign) => void }) {
  const { campaign, report, agent } = props.seen;
  const [isEditing, setEditing] = useState(false);
  const { contacts } = campaign;
  const isOpen = ['draft', 'running', 'paused'].includes(campaign.status);
  return html`<${Page}
    title=${campaign.name}
    back=${{ href: '/campaigns', label: 'Campaigns' }}
    actions=${html`<${Actions} campaign=${campaign} onChange=${props.onChange} />`}
    lead=${html`<${CampaignStatus} status=${campaign.status} /> Calls with <a href=${`/agents/${campaign.agent_id}`}>${agent}</a>.`}
  >
    ${campaign.status_reason === null ? null : html`<${Note} kind="warn" title="It was paused by itself."><p>${campaign.status_reason}</p><//>`}
    ${campaign.held === null ? null : html`<${Note} title=${`Nobody is called for a moment: ${words(campaign.held.code).toLowerCase()}.`}><p>It goes on by itself <${Time} iso=${campaign.held.until} />.</p><//>`}
    <${Section} title="Progress">
      <div class="campaign-progress">
        <progress max="1" value=${shareDone(contacts)} aria-label="Contacts that are done"></progress>
        <span aria-live="off">${contacts.total === 0 ? 'Nobody is on the list yet.' : `${percent(shareDone(contacts))} of ${counted(contacts.total, 'contact')}`}</span>
      </div>
      <${Facts}
        columns
        rows=${[
          ['Waiting', count(contacts.waiting)],
          ['On a call', count(contacts.calling)],
          ['Done', count(contacts.done)],
          ['Refused by a rule', count(contacts.refused)],
          contacts.skipped === 0 ? null : ['Skipped', count(contacts.skipped)],
          ['Calls made', count(report.attempts.total + contacts.calling)],
        ]}
      />
    <//>
    ${isOpen ? html`<${Section} title="Add contacts"><${ContactsFile} campaignId=${campaign.id} onAdded=${props.reload} /><//>` : null}
    <${Report} report=${report} />
    <${ContactsTable} campaign=${campaign} />
    <${Section} title="Rules" actions=${isOpen ? html`<${Button} small icon="edit" onClick=${() => setEditing(true)}>Change<//>` : undefined}>
      <${Rules} campaign=${campaign} />
    <//>
    ${isEditing ? html`<${RulesForm} campaign=${campaign} onClose=${() => setEditing(false)} onSaved=${props.onChange} />` : null}
  <//>`;
}

function Actions(props: { campaign: Campaign; onChange: (campaign: Campaign) => void }) {
  const { campaign, onChange } = props;
  const { id, status, contacts } = campaign;
  const turn = useAction(async (verb: 'start' | 'pause' | 'resume') => {
    onChange(await api.campaigns[verb](id));
    toast(
      {
        start: 'The campaign calls.',
        pause: 'It is paused: calls that are on go on.',
        resume: 'It goes on.',
      }[verb],
    );
  });
  const begin = (verb: 'start' | 'resume') =>
    void confirm({
      title: verb === 'start' ? 'Start the campaign?' : 'Go on with the campaign?',
      text: html`<p>It calls ${counted(contacts.waiting, 'contact')}, ${campaign.calls_per_minute} a minute at most. ${windowsInWords(campaign)}.</p>`,
      action: verb === 'start' ? 'Start calling' : 'Go on calling',
      run: async () => onChange(await api.campaigns[verb](id)),
    });
  const stop = () =>
    void confirm({
      title: 'Stop the campaign for good?',
      text: html`<p>${counted(contacts.waiting, 'contact')} will not be called. Calls that are on go on.</p>`,
      action: 'Stop it',
      danger: true,
      run: async () => onChange(await api.campaigns.stop(id)),
    });
  const drop = () =>
    void confirm({
      title: `Delete ${campaign.name}?`,
      text: html`<p>The draft goes with its contacts. Nobody was called.</p>`,
      action: 'Delete the draft',
      danger: true,
      run: async () => {
        await api.campaigns.delete(id);
        navigate('/campaigns');
      },
    });
  return html`<${ErrorNote} error=${turn.error} />
    ${contacts.total === 0 ? null : html`<${Button} icon="download" href=${`/dashboard/api/v1/campaigns/${id}/contacts.csv`} download="contacts.csv">Export<//>`}
    ${status === 'draft' ? html`<${Button} kind="quiet" icon="trash" onClick=${drop}>Delete<//>` : null}
    ${status === 'running' || status === 'paused' ? html`<${Button} kind="danger" onClick=${stop}>Stop…<//>` : null}
    ${status === 'running' ? html`<${Button} icon="pause" busy=${turn.busy} onClick=${() => turn.run('pause')}>Pause<//>` : null}
    ${status === 'paused' ? html`<${Button} kind="primary" icon="play" onClick=${() => begin('resume')}>Go on…<//>` : null}
    ${status === 'draft' ? html`<${Button} kind="primary" icon="play" disabled=${contacts.total === 0} onClick=${() => begin('start')}>Start…<//>` : null}`;
}

function Report(props: { report: CampaignReport }) {
  const { report } = props;
  const outcomes = Object.entries(report.outcomes).sort(([, a], [, b]) => b - a);
  if (outcomes.length === 0 && report.attempts.total === 0) return null;
  const sum = outcomes.reduce((all, [, of]) => all + of, 0);
  type Line = readonly [name: string, contacts: number];
  type Hour = CampaignReport['hours'][number];
  return html`<${Section} title="What came of it">
    <${Table}
      caption="Contacts by their outcome"
      dense
      rows=${outcomes}
      rowKey=${([name]: Line) => name}
      columns=${[
        { label: 'Outcome', cell: ([name]: Line) => outcomeInWords(name) },
        { label: 'Contacts', numeric: true, cell: ([, of]: Line) => count(of) },
        { label: 'Share', numeric: true, cell: ([, of]: Line) => percent(of / sum) },
        {
          label: 'Calls that ended so',
          numeric: true,
          cell: ([name]: Line) => count(report.attempts.by_outcome[name] ?? 0),
        },
      ]}
    />
    ${
      report.hours.length < 2
        ? null
        : html`<details><summary>Calls by the hour</summary>
            <${Table}
              caption="Calls by the hour in which they ended"
              dense
              rows=${[...report.hours].reverse()}
              rowKey=${(hour: Hour) => hour.hour}
              columns=${[
                { label: 'Hour', cell: (hour: Hour) => html`<${Time} iso=${hour.hour} as="exact" />` },
                {
                  label: 'Calls',
                  numeric: true,
                  cell: (hour: Hour) =>
                    count(Object.values(hour.by_outcome).reduce((all, of) => all + of, 0)),
                },
                {
                  label: 'Answered',
                  numeric: true,
                  cell: (hour: Hour) => count(hour.by_outcome.answered ?? 0),
                },
              ]}
            />
          </details>`
    }
  <//>`;
}

function Rules(props: { campaign: Campaign }) {
  const { campaign } = props;
  const again = (Object.keys(RETRIED) as Retried[])
    .filter((name) => campaign.retries[name].times > 0)
    .map((name) => {
      const { times, after_minutes } = campaign.retries[name];
      return `${RETRIED[name].toLowerCase()} ${counted(times, 'time')}, ${counted(after_minutes, 'minute')} later`;
    });
  return html`<${Facts}
    rows=${[
      [
        'Pace',
        `${campaign.calls_per_minute} calls a minute, ${campaign.max_concurrent} at once, ${campaign.free_lines} lines left free`,
      ],
      ['Hours', windowsInWords(campaign)],
      ['Calling again', again.length === 0 ? 'Never' : again.join('; ')],
      ['Calls to one contact', `${campaign.max_attempts} at most`],
      ['Calls from', campaign.from_number ?? 'The agent’s primary number'],
    ]}
  />`;
}
