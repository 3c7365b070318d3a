// The two pages before one is signed in: choosing the password at the first start, and giving it later.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fieldError, toFailure } from '../failure.ts';
import { localPath } from '../route-match.ts';
import { endedHere, loadSession, logIn, session, setUp } from '../session.ts';
import { Button } from '../ui/button.ts';
import { ErrorNote, Note } from '../ui/feedback.ts';
import { Field } from '../ui/field.ts';
import { useAction } from '../ui/load.ts';
import { navigate, path } from '../ui/router.ts';
import { Brand } from '../ui/shell.ts';
import { NewPassword, passwordFault } from './new-password.ts';

export function Alone(props: { title: string; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${props.title} · Offhook`;
  }, [props.title]);
  return html`<main class="alone">
    <div class="alone-card">
      <${Brand} />
      <h1>${props.title}</h1>
      ${props.children}
    </div>
  </main>`;
}

/** `/setup#<token>`: the link that the daemon prints at its first start. */
export function SetupPage(props: { done: boolean }) {
  // The fragment is not sent to any server, and is taken out of the address at once.
  const [token] = useState(() => location.hash.slice(1));
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [tried, setTried] = useState(false);
  const save = useAction(async () => {
    await setUp(token, password);
    await navigate('/', { replace: true });
  });
  useEffect(() => {
    if (token !== '') history.replaceState(null, '', '/setup');
  }, []);
  if (props.done && token === '') {
    return html`<${Alone} title="Already set up">
      <p>The password of this dashboard has been chosen; its link worked once. To set a new one, run <code>npm run reset-password</code> on the machine of the daemon.</p>
      <${Button} kind="primary" href="/">Sign in<//>
    <//>`;
  }
  if (token === '') {
    return html`<${Alone} title="Set up the dashboard">
      <p>The daemon printed a link when it started. Open that link: only whoever can read the daemon's output may choose the password.</p>
      <p>It looks like <code>${location.origin}/setup#…</code>. <code>npm run reset-password</code> prints a new one.</p>
    <//>`;
  }
  return html`<${Alone} title="Choose a password">
    <p>It opens this dashboard, and with it every call and recording. There is no default one, and nobody can read it later.</p>
    <form
      class="stack"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        setTried(true);
        if (passwordFault(password, again) === null) void save.run();
      }}
    >
      <input class="sr-only" type="text" name="username" value="operator" autocomplete="username" tabindex="-1" aria-hidden="true" readonly />
      <${NewPassword} password=${password} again=${again} onPassword=${setPassword} onAgain=${setAgain} tried=${tried} error=${fieldError(save.error, 'password')} />
      <${ErrorNote} error=${fieldError(save.error, 'password') === null ? save.error : null} title="The password was not set." focus />
      <${Button} kind="primary" type="submit" busy=${save.busy}>Set the password<//>
    </form>
  <//>`;
}

const OIDC_FAULTS: Record<string, string> = {
  unreachable: 'The sign-in service could not be reached. Try again, or sign in by password.',
  expired: 'That took too long, or was begun in another window. Try again.',
  failed: 'The sign-in service’s answer could not be used. Try again.',
  refused:
    'You are not invited here with the address that the service names. Ask an owner of your organization.',
};

/** Signing in by another service, where the daemon has one. */
function SingleSignOn(props: { name: string }) {
  const asked = new URLSearchParams(location.search);
  const fault = OIDC_FAULTS[asked.get('oidc') ?? ''];
  const to = localPath(path.value === '/login' ? asked.get('to') : path.value);
  return html`${fault === undefined ? null : html`<${Note} kind="warn" title="You are not signed in.">${fault}<//>`}
    <${Button} onClick=${() => location.assign(`/dashboard/api/oidc/start?to=${encodeURIComponent(to)}`)}>Sign in with ${props.name}<//>`;
}

export function SignInPage() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [organization, setOrganization] = useState('');
  const [code, setCode] = useState('');
  const [wantsCode, setWantsCode] = useState(false);
  const several = session.value?.several === true;
  const byEmail = session.value?.by_email === true;
  const enter = useAction(async () => {
    try {
      await logIn({
        email,
        password,
        organization: several ? organization : '',
        code: wantsCode ? code : '',
      });
    } catch (error) {
      // The password was right, and a second factor is there.
      if (toFailure(error).param !== 'code') throw error;
      setCode('');
      if (wantsCode) throw error;
      setWantsCode(true);
      return;
    }
    if (path.value === '/login' || path.value === '/setup') {
      await navigate(localPath(new URLSearchParams(location.search).get('to')), { replace: true });
    }
  });
  useEffect(() => {
    // The state may be stale when this page was kept by the browser.
    loadSession().catch(() => {});
    document.querySelector<HTMLInputElement>('input[name=password]')?.focus();
  }, []);
  useEffect(() => {
    if (wantsCode) document.querySelector<HTMLInputElement>('input[name=code]')?.focus();
  }, [wantsCode]);
  return html`<${Alone} title="Sign in">
    ${endedHere.value ? html`<${Note} title="Your session has ended.">Sign in to go on where you were.<//>` : null}
    <form
      class="stack"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        void enter.run();
      }}
    >
      ${
        byEmail
          ? html`<${Field}
              label="E-mail address"
              type="email"
              name="username"
              autocomplete="username"
              value=${email}
              onInput=${setEmail}
              help="Empty, where you have none here yet."
            />`
          : null
      }
      ${
        several
          ? html`<${Field}
              label="Organization"
              name=${byEmail ? 'organization' : 'username'}
              autocomplete=${byEmail ? 'organization' : 'username'}
              value=${organization}
              onInput=${setOrganization}
              help="Its name, as its link was made for. Empty: the first one of this daemon."
            />`
          : byEmail
            ? null
            : html`<input class="sr-only" type="text" name="username" value="operator" autocomplete="username" tabindex="-1" aria-hidden="true" readonly />`
      }
      <${Field}
        label="Password"
        type="password"
        name="password"
        required
        autocomplete="current-password"
        value=${password}
        onInput=${setPassword}
        error=${fieldError(enter.error, 'password')}
      />
      ${
        wantsCode
          ? html`<${Field}
              label="Code"
              name="code"
              required
              autocomplete="one-time-code"
              value=${code}
              onInput=${setCode}
              error=${fieldError(enter.error, 'code')}
              help="Six digits of your authenticator app, or a recovery code."
            />`
          : null
      }
      <${ErrorNote} error=${fieldError(enter.error, 'password') === null && fieldError(enter.error, 'code') === null ? enter.error : null} title="You are not signed in." />
      <${Button} kind="primary" type="submit" busy=${enter.busy}>Sign in<//>
    </form>
    ${session.value?.oidc == null ? null : html`<${SingleSignOn} name=${session.value.oidc} />`}
    <details class="small dim">
      <summary>The password is lost</summary>
      <p>Ask an owner of your organization for a link to set a new one. On the machine of the daemon, <code>npm run reset-password</code> prints one for the first owner.</p>
    </details>
  <//>`;
}
