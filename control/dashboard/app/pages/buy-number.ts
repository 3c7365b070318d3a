// Searching for a number at the carrier, and buying it after its price was confirmed.
import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import type { AgentSummary, AvailableNumber } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { fieldError, toFailure } from '../failure.ts';
import { counted, phone, words } from '../format.ts';
import { monthlyPrice } from '../forms/dollars.ts';
import { Button } from '../ui/button.ts';
import { Dialog } from '../ui/dialog.ts';
import { EmptyState, ErrorNote, Note, Skeleton } from '../ui/feedback.ts';
import { Field, Select } from '../ui/field.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { Page, Section } from '../ui/page.ts';
import { navigate } from '../ui/router.ts';
import { Table } from '../ui/table.ts';
import { announce, toast } from '../ui/toast.ts';
import { Phone } from '../ui/values.ts';

const COUNTRIES = [
  'US',
  'CA',
  'GB',
  'IE',
  'AU',
  'NZ',
  'DE',
  'AT',
  'CH',
  'FR',
  'ES',
  'IT',
  'NL',
  'BE',
  'PT',
  'SE',
  'DK',
  'NO',
  'FI',
  'PL',
  'CZ',
  'MX',
  'BR',
  'JP',
  'SG',
  'IN',
  'ZA',
];
const countryNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

function countryName(code: string): string | undefined {
  try {
    return countryNames.of(code.toUpperCase());
  } catch {
    return undefined;
  }
}

const TYPES = ['local', 'mobile', 'toll_free', 'national'] as const;

interface Search {
  country: string;
  type: (typeof TYPES)[number];
  area_code: string;
  contains: string;
  locality: string;
}

/** What can be bought: its price is known. */
type Priced = AvailableNumber & { monthly_cost_cents: number };

function BuyDialog(props: { number: Priced; onClose: () => void }) {
  const { number } = props;
  const [label, setLabel] = useState('');
  const [agentId, setAgentId] = useState('');
  const agents = useLoad(() => api.agents.list({ limit: 100 }).all(500), []);
  /** Bought, but not attached: the money is spent, so that is told apart. */
  const [bought, setBought] = useState(false);
  const buy = useAction(async () => {
    const own = await api.numbers.purchase({
      e164: number.e164,
      ...(label.trim() === '' ? {} : { friendly_name: label.trim() }),
    });
    setBought(true);
    if (agentId !== '') await api.agents.attachNumber(agentId, { number_id: own.id });
    props.onClose();
    toast(
      agentId === ''
        ? `${phone(own.e164)} is yours. Attach it to an agent next.`
        : `${phone(own.e164)} is yours, and attached.`,
    );
    await navigate('/numbers');
  });
  const chosen = agents.data?.find((agent) => agent.id === agentId);
  return html`<${Dialog}
    title=${`Buy ${phone(number.e164)}?`}
    onClose=${() => {
      props.onClose();
      if (bought) void navigate('/numbers');
    }}
    keep
    actions=${
      bought && buy.error !== null
        ? html`<${Button} kind="primary" href="/numbers" onClick=${props.onClose}>Go to the numbers<//>`
        : html`<${Button} onClick=${props.onClose}>Cancel<//>
            <${Button} kind="primary" busy=${buy.busy} onClick=${() => buy.run()}>Buy for ${monthlyPrice(number.monthly_cost_cents)} a month<//>`
    }
  >
    <div class="stack">
      ${
        bought && buy.error !== null
          ? html`<${ErrorNote} error=${buy.error} title=${`${phone(number.e164)} is bought, but could not be attached.`} focus />`
          : html`
            <p>The carrier charges <strong>${monthlyPrice(number.monthly_cost_cents)} a month</strong> to your account with it, from
              now until the number is released. Calls cost extra.</p>
            <${Field} label="Label" optional maxLength=${64} value=${label} placeholder=${number.friendly_name} error=${fieldError(buy.error, 'friendly_name')} help="To know it by; callers do not see it." onInput=${setLabel} />
            <${Select}
              label="Attach to"
              value=${agentId}
              options=${[
                { value: '', label: agents.data?.length === 0 ? 'There is no agent yet' : 'No agent yet' },
                ...(agents.data ?? []).map((agent: AgentSummary) => ({
                  value: agent.id,
                  label: `${agent.name} (${agent.type === 'inbound' ? 'answers calls' : 'places calls'})`,
                })),
              ]}
              help=${chosen === undefined ? 'Until it is attached, calls to it are rejected.' : chosen.type === 'inbound' ? `${chosen.name} answers it at once.` : `${chosen.name} can call from it at once.`}
              onChange=${setAgentId}
            />
            <${ErrorNote} error=${buy.error} title="The number was not bought." focus />`
      }
    </div>
  <//>`;
}

export function BuyNumberPage() {
  const [search, setSearch] = useState<Search>({
    country: 'US',
    type: 'local',
    area_code: '',
    contains: '',
    locality: '',
  });
  const [found, setFound] = useState<{ numbers: AvailableNumber[]; search: Search } | null>(null);
  const [chosen, setChosen] = useState<Priced | null>(null);
  const results = useRef<HTMLDivElement>(null);
  const set = (part: Partial<Search>) => setSearch((now) => ({ ...now, ...part }));
  const look = useAction(async () => {
    const numbers = await api.numbers.available({
      country: search.country.trim().toUpperCase(),
      type: search.type,
      limit: 30,
      ...(search.area_code.trim() === '' ? {} : { area_code: search.area_code.trim() }),
      ...(search.contains.trim() === '' ? {} : { contains: search.contains.trim() }),
      ...(search.locality.trim() === '' ? {} : { locality: search.locality.trim() }),
    });
    setFound({ numbers, search });
    announce(`${counted(numbers.length, 'number')} found.`);
  });
  const error = (field: keyof Search) => fieldError(look.error, field);
  const atField = ['country', 'area_code', 'contains', 'locality', 'type'].includes(
    toFailure(look.error).param ?? '',
  );
  return html`<${Page} title="Buy a number" back=${{ href: '/numbers', label: 'Numbers' }} lead="What the carrier has to offer now. Searching costs nothing.">
    <${Section} title="Search">
      <form
        class="stack"
        role="search"
        aria-label="Numbers to buy"
        onSubmit=${(event: Event) => {
          event.preventDefault();
          void look.run();
        }}
      >
        <div class="search-fields">
          <${Field} label="Country" value=${search.country} maxLength=${2} error=${error('country')} suggestions=${COUNTRIES.map((value) => ({ value, label: countryName(value) ?? value }))} help=${countryName(search.country) ?? 'Two letters, such as US'} onInput=${(country: string) => set({ country })} />
          <${Select} label="Kind" value=${search.type} error=${error('type')} options=${TYPES.map((value) => ({ value, label: words(value) }))} onChange=${(type: string) => set({ type: type as Search['type'] })} />
          <${Field} label="Area code" optional value=${search.area_code} error=${error('area_code')} placeholder="415" onInput=${(area_code: string) => set({ area_code })} />
          <${Field} label="Contains" optional value=${search.contains} error=${error('contains')} placeholder="TAXI, 777 or 55*55" help="Digits or letters; * stands for any digit." onInput=${(contains: string) => set({ contains })} />
          <${Field} label="City" optional value=${search.locality} error=${error('locality')} placeholder="San Francisco" onInput=${(locality: string) => set({ locality })} />
        </div>
        <div class="row"><${Button} kind="primary" icon="search" type="submit" busy=${look.busy}>Search<//></div>
        ${atField ? null : html`<${ErrorNote} error=${look.error} title="The carrier could not be searched." retry=${() => look.run()} />`}
      </form>
    <//>
    <div ref=${results}>
      ${
        look.busy && found === null
          ? html`<div aria-busy="true"><span class="sr-only">Searching</span><${Skeleton} lines=${5} /></div>`
          : found === null
            ? html`<${Note}><p>Choose what matters and search. Nothing but the country and the kind is needed.</p><//>`
            : found.numbers.length === 0
              ? html`<${EmptyState} icon="search" title="No such number is on offer">
                  Take out the city or the area code, try fewer digits, or another kind.
                <//>`
              : html`<${Table}
                  caption="Numbers on offer"
                  rows=${found.numbers}
                  rowKey=${(number: AvailableNumber) => number.e164}
                  columns=${[
                    {
                      label: 'Number',
                      cell: (number: AvailableNumber) => html`<${Phone} number=${number.e164} />`,
                    },
                    {
                      label: 'Place',
                      grow: true,
                      cell: (number: AvailableNumber) =>
                        [
                          number.locality,
                          number.region,
                          countryName(number.country_code) ?? number.country_code,
                        ]
                          .filter((part) => part !== null && part !== '')
                          .join(', '),
                    },
                    { label: 'Kind', cell: (number: AvailableNumber) => words(number.number_type) },
                    {
                      label: 'A month',
                      numeric: true,
                      cell: (number: AvailableNumber) =>
                        number.monthly_cost_cents === null
                          ? 'unknown'
                          : monthlyPrice(number.monthly_cost_cents),
                    },
                    {
                      label: 'Buy',
                      hideLabel: true,
                      cell: (number: AvailableNumber) =>
                        html`<${Button} small label=${`Buy ${phone(number.e164)}`} disabled=${number.monthly_cost_cents === null} onClick=${() => setChosen(number as Priced)}>Buy…<//>`,
                    },
                  ]}
                />`
      }
    </div>
    ${chosen === null ? null : html`<${BuyDialog} number=${chosen} onClose=${() => setChosen(null)} />`}
  <//>`;
}
