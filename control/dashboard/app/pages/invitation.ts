// `/invitation#<token>`: a link by which somebody becomes a user, or who is one sets a new password.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { fieldError } from '../failure.ts';
import { acceptInvitation, type Invitation, lookAtInvitation } from '../session.ts';
import { Button } from '../ui/button.ts';
import { ErrorNote } from '../ui/feedback.ts';
import { Field } from '../ui/field.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { navigate } from '../ui/router.ts';
import { NewPassword, passwordFault } from './new-password.ts';
import { Alone } from './sign-in.ts';

const ROLES: Record<string, string> = {
  owner: 'an owner: you may do everything',
  operator: 'an operator: you place calls and change agents, numbers and webhooks',
  viewer: 'a viewer: you see calls and their words',
};

function Accept(props: { token: string; invitation: Invitation }) {
  const { invitation, token } = props;
  const isNew = invitation.kind === 'invitation';
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [tried, setTried] = useState(false);
  const noName = isNew && name.trim() === '' ? 'Say who you are: others of the organization see it.' : null;
  const save = useAction(async () => {
    await acceptInvitation({ token, password, ...(isNew ? { name: name.trim() } : {}) });
    await navigate('/', { replace: true });
  });
  const atField = ['name', 'password'].some((field) => fieldError(save.error, field) !== null);
  return html`<${Alone} title=${isNew ? `Join ${invitation.organization}` : 'Choose a new password'}>
    <p>${
      isNew
        ? `${invitation.invited_by} invites you as ${ROLES[invitation.role] ?? invitation.role}.`
        : `For ${invitation.name ?? 'your account'} at ${invitation.organization}. Whoever is signed in with the old one is signed out.`
    }</p>
    <form
      class="stack"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        setTried(true);
        if (noName === null && passwordFault(password, again) === null) void save.run();
      }}
    >
      ${
        invitation.email === null
          ? null
          : html`<${Field} label="E-mail address" type="email" name="username" autocomplete="username" value=${invitation.email} disabled onInput=${() => {}} />`
      }
      ${
        isNew
          ? html`<${Field} label="Your name" name="name" autocomplete="name" required maxLength=${100} value=${name} onInput=${setName} error=${(tried ? noName : null) ?? fieldError(save.error, 'name')} />`
          : null
      }
      <${NewPassword} password=${password} again=${again} onPassword=${setPassword} onAgain=${setAgain} tried=${tried} error=${fieldError(save.error, 'password')} />
      ${atField ? null : html`<${ErrorNote} error=${save.error} title="The link was not used." focus />`}
      <${Button} kind="primary" type="submit" busy=${save.busy}>${isNew ? 'Join' : 'Set the password'}<//>
    </form>
  <//>`;
}

export function InvitationPage() {
  // The fragment is not sent to any server, and is taken out of the address at once.
  const [token] = useState(() => location.hash.slice(1));
  const invitation = useLoad(() => lookAtInvitation(token), []);
  useEffect(() => history.replaceState(null, '', '/invitation'), []);
  if (invitation.data !== undefined) return html`<${Accept} token=${token} invitation=${invitation.data} />`;
  if (invitation.error === null)
    return html`<${Alone} title="Invitation"><p aria-busy="true">One moment…</p><//>`;
  return html`<${Alone} title="This link does not open">
    <p>It has been used, is too old, or was taken back. Ask whoever sent it for another one.</p>
    <${Button} kind="primary" href="/">Sign in<//>
  <//>`;
}
