// People: who signs in to this organization and what each may, and who is invited.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { fieldError } from '../failure.ts';
import { ask, session } from '../session.ts';
import { Button } from '../ui/button.ts';
import { confirm, Dialog } from '../ui/dialog.ts';
import { ErrorNote, Loaded, Note } from '../ui/feedback.ts';
import { Checkbox, Field, Select } from '../ui/field.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { Page, Section } from '../ui/page.ts';
import { SecretDialog } from '../ui/secret.ts';
import { Badge } from '../ui/status.ts';
import { Table } from '../ui/table.ts';
import { toast } from '../ui/toast.ts';
import { Time } from '../ui/values.ts';

type Role = 'owner' | 'operator' | 'viewer';

interface Person {
  id: string;
  name: string;
  email: string | null;
  role: Role;
  may_listen: boolean;
  second_factor: boolean;
  has_password: boolean;
  disabled_at: string | null;
  signed_in_at: string | null;
}

interface Invited {
  id: string;
  email: string | null;
  role: Role;
  user_id: string | null;
  created_by: string;
  expires_at: string;
}

const ROLES: { value: Role; label: string }[] = [
  { value: 'viewer', label: 'Viewer: sees calls and their words' },
  { value: 'operator', label: 'Operator: places calls, changes agents, numbers, webhooks' },
  { value: 'owner', label: 'Owner: everything, with people, keys and money' },
];

const roleWords = ({ role, may_listen }: Pick<Person, 'role' | 'may_listen'>) =>
  `${role.charAt(0).toUpperCase()}${role.slice(1)}${role === 'viewer' && may_listen ? ', hears recordings' : ''}`;

function RoleFields(props: {
  role: Role;
  listens: boolean;
  onRole: (role: Role) => void;
  onListens: (listens: boolean) => void;
}) {
  return html`<${Select} label="Role" value=${props.role} options=${ROLES} onChange=${(value: string) => props.onRole(value as Role)} />
    ${
      props.role === 'viewer'
        ? html`<${Checkbox} label="May hear recordings" checked=${props.listens} onChange=${props.onListens} />`
        : null
    }`;
}

function InviteDialog(props: {
  onClose: () => void;
  onDone: (made: { email: string; url: string }) => void;
}) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [listens, setListens] = useState(false);
  const invite = useAction(async () =>
    props.onDone(await ask('POST', 'invitations', { email, role, may_listen: role === 'viewer' && listens })),
  );
  const submit = (event: Event) => {
    event.preventDefault();
    void invite.run();
  };
  return html`<${Dialog}
    title="Invite somebody"
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Cancel<//>
      <${Button} kind="primary" type="submit" form="invite" busy=${invite.busy} onClick=${submit}>Make the link<//>`}
  >
    <form class="stack" id="invite" onSubmit=${submit}>
      <${Field} label="E-mail address" type="email" required value=${email} error=${fieldError(invite.error, 'email')} help="They sign in with it. Nothing is sent: you get a link to give them." onInput=${setEmail} />
      <${RoleFields} role=${role} listens=${listens} onRole=${setRole} onListens=${setListens} />
      ${fieldError(invite.error, 'email') === null ? html`<${ErrorNote} error=${invite.error} title="Nobody was invited." focus />` : null}
    </form>
  <//>`;
}

function PersonDialog(props: {
  person: Person;
  onClose: () => void;
  onDone: () => void;
  onLink: (url: string) => void;
}) {
  const { person } = props;
  const [role, setRole] = useState<Role>(person.role);
  const [listens, setListens] = useState(person.may_listen);
  const path = `people/${person.id}`;
  const act = useAction(async (said: string, what: () => Promise<unknown>) => {
    await what();
    toast(said);
    props.onDone();
  });
  const save = () =>
    act.run(`${person.name} is ${role === 'viewer' ? 'a viewer' : `an ${role}`} now.`, () =>
      ask('PATCH', path, { role, may_listen: role === 'viewer' ? listens : true }),
    );
  const link = useAction(async () =>
    props.onLink((await ask<{ url: string }>('POST', `${path}/password_link`)).url),
  );
  return html`<${Dialog}
    title=${person.name}
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Cancel<//>
      <${Button} kind="primary" busy=${act.busy} onClick=${save}>Save<//>`}
  >
    <div class="stack">
      <${RoleFields} role=${role} listens=${listens} onRole=${setRole} onListens=${setListens} />
      <p class="help">A change signs them out everywhere, and holds from the next sign-in.</p>
      <${ErrorNote} error=${act.error ?? link.error} title="Nothing was changed." focus />
      <div class="row">
        <${Button} small busy=${link.busy} onClick=${() => link.run()}>Link for a new password<//>
        <${Button} small onClick=${() => act.run(`${person.name} is signed out.`, () => ask('POST', `${path}/sign_out`))}>Sign out everywhere<//>
        ${
          person.second_factor
            ? html`<${Button} small onClick=${() => act.run('The second factor is gone.', () => ask('POST', `${path}/remove_second_factor`))}>Remove second factor<//>`
            : null
        }
        ${
          person.disabled_at === null
            ? html`<${Button} small kind="danger" onClick=${() => act.run(`${person.name} is kept out.`, () => ask('PATCH', path, { disabled: true }))}>Keep out<//>`
            : html`<${Button} small onClick=${() => act.run(`${person.name} may sign in again.`, () => ask('PATCH', path, { disabled: false }))}>Let in again<//>`
        }
      </div>
    </div>
  <//>`;
}

export function PeoplePage() {
  const people = useLoad(
    (signal) => ask<{ users: Person[]; invitations: Invited[] }>('GET', 'people', undefined, signal),
    [],
  );
  const [inviting, setInviting] = useState(false);
  const [chosen, setChosen] = useState<Person | null>(null);
  const [link, setLink] = useState<{ title: string; url: string } | null>(null);
  const own = session.value?.user?.id;
  const takeBack = (one: Invited) =>
    confirm({
      title: 'Take the link back?',
      text: html`<p>The link for ${one.email ?? 'a new password'} opens nothing any more.</p>`,
      action: 'Take it back',
      danger: true,
      run: async () => {
        await ask('DELETE', `invitations/${one.id}`);
        people.reload();
      },
    });
  const invite = html`<${Button} kind="primary" icon="plus" onClick=${() => setInviting(true)}>Invite<//>`;
  return html`<${Page} title="People" actions=${invite} lead="Who signs in here, and what each may. What they do is in the audit log.">
    <${Loaded} load=${people} title="The people could not be loaded.">
      ${({ users, invitations }: { users: Person[]; invitations: Invited[] }) => html`
        ${
          users.some(({ id, email }) => id === own && email === null)
            ? html`<${Note} title="You sign in by the password alone."><p>Set your e-mail address under <a href="/account">My account</a>, so that each of you signs in as who they are.</p><//>`
            : null
        }
        <${Table}
          caption="People"
          rows=${users}
          rowKey=${(one: Person) => one.id}
          columns=${[
            {
              label: 'Name',
              grow: true,
              cell: (one: Person) =>
                html`${one.name}${one.id === own ? html` <${Badge} tone="info" dot=${false}>You<//>` : null}${one.disabled_at === null ? null : html` <${Badge} tone="bad">Kept out<//>`}`,
            },
            { label: 'E-mail', cell: (one: Person) => one.email ?? html`<span class="dim">None</span>` },
            { label: 'Role', cell: (one: Person) => roleWords(one) },
            {
              label: 'Second factor',
              cell: (one: Person) =>
                one.second_factor ? html`<${Badge} tone="ok">On<//>` : html`<span class="dim">Off</span>`,
            },
            {
              label: 'Signed in',
              cell: (one: Person) =>
                one.signed_in_at === null
                  ? html`<span class="dim">Never</span>`
                  : html`<${Time} iso=${one.signed_in_at} />`,
            },
            {
              label: 'Actions',
              hideLabel: true,
              cell: (one: Person) =>
                html`<${Button} small kind="quiet" label=${`Change ${one.name}`} onClick=${() => setChosen(one)}>Change<//>`,
            },
          ]}
        />
        ${
          invitations.length === 0
            ? null
            : html`<${Section} title="Links that wait">
                <${Table}
                  caption="Links that wait"
                  rows=${invitations}
                  rowKey=${(one: Invited) => one.id}
                  columns=${[
                    {
                      label: 'For',
                      grow: true,
                      cell: (one: Invited) =>
                        one.email ?? users.find(({ id }) => id === one.user_id)?.name ?? 'A new password',
                    },
                    {
                      label: 'What',
                      cell: (one: Invited) =>
                        one.user_id === null ? `Joins as ${one.role}` : 'New password',
                    },
                    { label: 'By', cell: (one: Invited) => one.created_by },
                    {
                      label: 'Good until',
                      cell: (one: Invited) => html`<${Time} iso=${one.expires_at} as="exact" />`,
                    },
                    {
                      label: 'Actions',
                      hideLabel: true,
                      cell: (one: Invited) =>
                        html`<${Button} small kind="quiet" label=${`Take back the link for ${one.email ?? 'a new password'}`} onClick=${() => takeBack(one)}>Take back<//>`,
                    },
                  ]}
                />
              <//>`
        }`}
    <//>
    ${
      inviting
        ? html`<${InviteDialog}
            onClose=${() => setInviting(false)}
            onDone=${(made: { email: string; url: string }) => {
              setInviting(false);
              setLink({ title: `A link for ${made.email}`, url: made.url });
              people.reload();
            }}
          />`
        : null
    }
    ${
      chosen === null
        ? null
        : html`<${PersonDialog}
            person=${chosen}
            onClose=${() => setChosen(null)}
            onDone=${() => {
              setChosen(null);
              people.reload();
            }}
            onLink=${(url: string) => {
              setLink({ title: `A new password for ${chosen.name}`, url });
              setChosen(null);
              people.reload();
            }}
          />`
    }
    ${
      link === null
        ? null
        : html`<${SecretDialog} title=${link.title} label="Link" secret=${link.url} onClose=${() => setLink(null)}>
            <p>Give it to them by a way that only they read. It works once.</p>
          <//>`
    }
  <//>`;
}
