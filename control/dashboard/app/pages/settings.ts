// Settings: what may be spent, and what runs here.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { fieldError, toFailure } from '../failure.ts';
import { money } from '../format.ts';
import { dollarsOf, readDollars } from '../forms/dollars.ts';
import { session } from '../session.ts';
import { Button } from '../ui/button.ts';
import { confirm } from '../ui/dialog.ts';
import { ErrorNote, Loaded, Note } from '../ui/feedback.ts';
import { Field, Segments } from '../ui/field.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { Facts, Page, Section } from '../ui/page.ts';
import { toast } from '../ui/toast.ts';
import { SpokenSection } from './settings-spoken.ts';

interface Credit {
  balance_milli_cents: number | null;
  held_milli_cents: number;
}

type Change = 'add' | 'set' | 'unlimited';

function Balance() {
  const credit = useLoad<Credit>((signal) => api.balance.get({ signal }), []);
  return html`<${Section} title="Credit" lead="What this organization may still spend on calls. It is taken as calls are charged; at nothing, no call is placed or answered.">
    <${Loaded} load=${credit} title="The balance could not be loaded.">
      ${(now: Credit) => html`<${Facts}
          columns
          rows=${[
            [
              'To spend',
              html`<strong class="figure digits">${now.balance_milli_cents === null ? 'No limit' : money(now.balance_milli_cents)}</strong>`,
            ],
            ['Held for live calls', html`<span class="digits">${money(now.held_milli_cents)}</span>`],
          ]}
        />
        <details>
          <summary>Change it</summary>
          <${ChangeBalance} credit=${now} onChange=${credit.set} />
        </details>`}
    <//>
  <//>`;
}

function ChangeBalance(props: { credit: Credit; onChange: (credit: Credit) => void }) {
  const { credit } = props;
  const [change, setChange] = useState<Change>(credit.balance_milli_cents === null ? 'set' : 'add');
  const [amount, setAmount] = useState('');
  const [key, setKey] = useState('');
  const [tried, setTried] = useState(false);
  const milliCents = readDollars(amount);
  const wrongAmount =
    change === 'unlimited'
      ? null
      : milliCents === null
        ? 'An amount in dollars: 25 or 12.50.'
        : change === 'set' && milliCents < 0
          ? 'What may be spent cannot be less than nothing.'
          : null;
  const wrongKey = key.trim() === '' ? 'The key is in the configuration of the daemon: OPERATOR_KEY.' : null;
  const save = useAction(async () => {
    const secret = key.trim();
    const value = milliCents ?? 0;
    const next =
      change === 'add'
        ? await api.balance.addCredit({ amount_milli_cents: value }, secret)
        : await api.balance.set({ balance_milli_cents: change === 'unlimited' ? null : value }, secret);
    props.onChange(next);
    setAmount('');
    setTried(false);
    toast(
      next.balance_milli_cents === null
        ? 'There is no limit now.'
        : `${money(next.balance_milli_cents)} may be spent now.`,
    );
  });
  const submit = async (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (wrongAmount !== null || wrongKey !== null) return;
    const lifts = change === 'unlimited' && credit.balance_milli_cents !== null;
    if (
      lifts &&
      !(await confirm({
        title: 'Lift the limit?',
        text: 'Calls then cost what they cost, without an end set here.',
        action: 'Lift the limit',
      }))
    )
      return;
    void save.run();
  };
  const refusedKey = toFailure(save.error).code === 'forbidden';
  return html`<form class="stack narrow" onSubmit=${submit}>
    <${Segments}
      label="What to do"
      value=${change}
      options=${[
        { value: 'add', label: 'Add or take', disabled: credit.balance_milli_cents === null },
        { value: 'set', label: 'Set' },
        { value: 'unlimited', label: 'No limit' },
      ]}
      onChange=${(value: string) => setChange(value as Change)}
    />
    ${
      change === 'unlimited'
        ? null
        : html`<${Field}
            label=${change === 'add' ? 'Dollars to add' : 'Dollars that may be spent'}
            value=${amount}
            placeholder=${change === 'set' && credit.balance_milli_cents !== null ? dollarsOf(credit.balance_milli_cents) : '25.00'}
            error=${(tried ? wrongAmount : null) ?? fieldError(save.error, change === 'add' ? 'amount_milli_cents' : 'balance_milli_cents')}
            help=${change === 'add' ? 'An amount with a minus takes away.' : 'Replaces what is there.'}
            onInput=${setAmount}
          />`
    }
    <${Field}
      label="Operator key"
      type="password"
      autocomplete="off"
      value=${key}
      error=${(tried ? wrongKey : null) ?? (refusedKey ? 'The daemon does not take this key. It must be the OPERATOR_KEY it was started with; without that setting nobody can change the credit.' : null)}
      help="Neither this password nor an API key may lift the limit of spending: whoever runs the daemon holds OPERATOR_KEY. It is sent with this change and kept nowhere."
      onInput=${setKey}
    />
    ${refusedKey || toFailure(save.error).param !== undefined ? null : html`<${ErrorNote} error=${save.error} title="The balance was not changed." focus />`}
    <div><${Button} type="submit" busy=${save.busy}>${change === 'add' ? 'Add to the credit' : change === 'set' ? 'Set the credit' : 'Lift the limit'}<//></div>
  </form>`;
}

export function SettingsPage() {
  const now = session.value;
  return html`<${Page} title="Settings">
    <div class="with-aside">
      <div><${SpokenSection} /><${Balance} /></div>
      <div><${Section} title="About">
        <${Facts}
          rows=${[
            ['Organization', now?.organization?.name ?? '–'],
            ['Organization id', html`<code>${now?.organization?.id ?? '–'}</code>`],
            ['Version', now?.version ?? '–'],
            ['API', html`<code>${location.origin}/v1</code>`],
            [
              'Reference',
              html`<a href="/docs" target="_blank" rel="noopener">Every request, field and error</a>`,
            ],
          ]}
        />
        <p><a href="/settings/kept">What is kept</a>: for how long, erasing a person, legal holds.</p>
        <${Note}><p>Everything else is set where the daemon is started, by its environment; the README lists every setting.</p><//>
      <//></div>
    </div>
  <//>`;
}
