// My account: who one is, the password, the second factor, and the browsers one is signed in with.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { fieldError } from '../failure.ts';
import { ask, loadSession } from '../session.ts';
import { Button } from '../ui/button.ts';
import { ErrorNote, Loaded } from '../ui/feedback.ts';
import { Field } from '../ui/field.ts';
import { type Load, useAction, useLoad } from '../ui/load.ts';
import { Facts, Page, Section } from '../ui/page.ts';
import { Badge } from '../ui/status.ts';
import { Table } from '../ui/table.ts';
import { toast } from '../ui/toast.ts';
import { Time } from '../ui/values.ts';
import { NewPassword, passwordFault } from './new-password.ts';
import { SecondFactor } from './second-factor.ts';

export interface Session {
  id: string;
  how: 'password' | 'link' | 'oidc';
  address: string | null;
  agent: string | null;
  created_at: string;
  last_seen_at: string;
  current: boolean;
}

export interface Account {
  name: string;
  email: string | null;
  role: string;
  may: string[];
  has_password: boolean;
  second_factor_since: string | null;
  recovery_codes_left: number;
  signs_in_elsewhere: string | null;
  sessions: Session[];
}

/** A browser in words: what its own long line of names comes down to. */
function browserOf(agent: string | null): string {
  if (agent === null) return 'A browser';
  const name = [
    ['Edg/', 'Edge'],
    ['OPR/', 'Opera'],
    ['Firefox/', 'Firefox'],
    ['Chrome/', 'Chrome'],
    ['Safari/', 'Safari'],
  ].find(([part = '']) => agent.includes(part))?.[1];
  const system = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'].find((part) =>
    agent.includes(part),
  );
  return name === undefined ? agent.slice(0, 60) : `${name}${system === undefined ? '' : ` on ${system}`}`;
}

const HOW = { password: 'Password', link: 'Link', oidc: 'Single sign-on' };

function Who(props: { account: Account; onChange: (account: Account) => void }) {
  const { account } = props;
  const [name, setName] = useState(account.name);
  const [email, setEmail] = useState(account.email ?? '');
  const [current, setCurrent] = useState('');
  const newEmail = email.trim() !== '' && email.trim().toLowerCase() !== account.email;
  const save = useAction(async () => {
    const body = { name: name.trim(), ...(newEmail ? { email: email.trim(), current } : {}) };
    props.onChange(await ask<Account>('PATCH', 'account', body));
    await loadSession();
    setCurrent('');
    toast('Your account is changed.');
  });
  const atField = ['name', 'email', 'current'].some((field) => fieldError(save.error, field) !== null);
  return html`<${Section} title="Who you are" lead="Others of your organization see your name beside what you do.">
    <${Facts} rows=${[['Role', html`<${Badge} dot=${false}>${account.role}<//>`]]} />
    <form
      class="stack narrow"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <${Field} label="Name" autocomplete="name" required maxLength=${100} value=${name} error=${fieldError(save.error, 'name')} onInput=${setName} />
      <${Field}
        label="E-mail address"
        type="email"
        autocomplete="username"
        value=${email}
        error=${fieldError(save.error, 'email')}
        help=${account.email === null ? 'You sign in by the password alone until there is one; from then on by both.' : 'You sign in with it.'}
        onInput=${setEmail}
      />
      ${
        newEmail
          ? html`<${Field} label="Your password" type="password" autocomplete="current-password" value=${current} error=${fieldError(save.error, 'current')} help="Changing the address takes it." onInput=${setCurrent} />`
          : null
      }
      ${atField ? null : html`<${ErrorNote} error=${save.error} title="Nothing was changed." focus />`}
      <div><${Button} type="submit" busy=${save.busy}>Save<//></div>
    </form>
  <//>`;
}

function Password(props: { email: string | null; onChange: () => void }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [tried, setTried] = useState(false);
  const save = useAction(async () => {
    await ask('POST', 'password', { current, password });
    // A new session, with a token of its own.
    await loadSession();
    setCurrent('');
    setPassword('');
    setAgain('');
    setTried(false);
    props.onChange();
    toast('The password is changed. Other browsers are signed out.');
  });
  const missing = current === '' ? 'Enter the password you signed in with.' : null;
  const atField = ['current', 'password'].some((field) => fieldError(save.error, field) !== null);
  return html`<${Section} title="Password" lead="Changing it signs out every other browser of yours.">
    <form
      class="stack narrow"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        setTried(true);
        if (missing === null && passwordFault(password, again) === null) void save.run();
      }}
    >
      <input class="sr-only" type="text" name="username" value=${props.email ?? 'operator'} autocomplete="username" tabindex="-1" aria-hidden="true" readonly />
      <${Field} label="Password now" type="password" autocomplete="current-password" value=${current} error=${(tried ? missing : null) ?? fieldError(save.error, 'current')} onInput=${setCurrent} />
      <${NewPassword} label="New password" password=${password} again=${again} onPassword=${setPassword} onAgain=${setAgain} tried=${tried} error=${fieldError(save.error, 'password')} />
      ${atField ? null : html`<${ErrorNote} error=${save.error} title="The password was not changed." focus />`}
      <div><${Button} type="submit" busy=${save.busy}>Change the password<//></div>
    </form>
  <//>`;
}

function Browsers(props: { sessions: Session[]; onChange: () => void }) {
  const end = useAction(async (path: string, method: 'DELETE' | 'POST') => {
    await ask(method, path);
    props.onChange();
    toast('Signed out there.');
  });
  const others = props.sessions.some(({ current }) => !current);
  const all = html`<${Button} small busy=${end.busy} onClick=${() => end.run('account/sessions/end_others', 'POST')}>Sign out everywhere else<//>`;
  return html`<${Section} title="Where you are signed in" actions=${others ? all : undefined}>
    <${ErrorNote} error=${end.error} title="It is still signed in." />
    <${Table}
      caption="Browsers that are signed in"
      rows=${props.sessions}
      rowKey=${(one: Session) => one.id}
      columns=${[
        {
          label: 'Browser',
          grow: true,
          cell: (one: Session) =>
            html`${browserOf(one.agent)}${one.current ? html` <${Badge} tone="ok">This one<//>` : null}`,
        },
        { label: 'By', cell: (one: Session) => HOW[one.how] },
        { label: 'From', cell: (one: Session) => one.address ?? '–' },
        { label: 'Last seen', cell: (one: Session) => html`<${Time} iso=${one.last_seen_at} />` },
        {
          label: 'Actions',
          hideLabel: true,
          cell: (one: Session) =>
            one.current
              ? null
              : html`<${Button} small kind="quiet" label=${`Sign out ${browserOf(one.agent)}`} onClick=${() => end.run(`account/sessions/${one.id}`, 'DELETE')}>Sign out<//>`,
        },
      ]}
    />
  <//>`;
}

export function AccountPage() {
  const account: Load<Account> = useLoad((signal) => ask<Account>('GET', 'account', undefined, signal), []);
  return html`<${Page} title="My account">
    <${Loaded} load=${account} title="Your account could not be loaded.">
      ${(now: Account) => html`
        <${Who} account=${now} onChange=${account.set} />
        ${
          now.has_password
            ? html`<${Password} email=${now.email} onChange=${account.reload} /><${SecondFactor} account=${now} onChange=${account.reload} />`
            : html`<${Section} title="Sign-in"><p>You sign in by ${now.signs_in_elsewhere ?? 'another service'}, which asks for your password and second factor.</p><//>`
        }
        <${Browsers} sessions=${now.sessions} onChange=${account.reload} />`}
    <//>
  <//>`;
}
