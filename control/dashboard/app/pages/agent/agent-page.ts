// One agent: to be created, changed, tried, sent to call somebody, archived. What is typed is kept until it is saved or
// dropped on purpose.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Agent, AgentChange, PhoneNumber } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { toFailure } from '../../failure.ts';
import { counted, phone, words } from '../../format.ts';
import {
  type AgentForm,
  agentFormOf,
  changeOf,
  contested,
  type FormFault,
  faultAt,
  formFaults,
  newAgentForm,
  newAgentOf,
  placedFault,
  sameForm,
} from '../../forms/agent-form.ts';
import type { PageProps } from '../../route-match.ts';
import { withQuery } from '../../route-match.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { ErrorNote, Loaded, Note, Skeleton } from '../../ui/feedback.ts';
import { useAction, useLoad } from '../../ui/load.ts';
import { Facts, Page, Section } from '../../ui/page.ts';
import { guardLeaving, navigate, query } from '../../ui/router.ts';
import { Badge } from '../../ui/status.ts';
import { toast } from '../../ui/toast.ts';
import { Time } from '../../ui/values.ts';
import { AgentType } from '../agents.ts';
import { MoreFields, NumberChoice, TaskFields, VoiceFields } from './agent-fields.ts';
import { isTaken, NumbersPanel } from './numbers-panel.ts';
import { PlaceCallDialog } from './place-call.ts';

/** The form of an agent as it is being filled in: what is wrong with it, and what the daemon said of it. */
function useAgentForm(start: AgentForm) {
  const [saved, setSaved] = useState(start);
  const [form, setForm] = useState(start);
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<{ fault: FormFault; value: unknown } | null>(null);
  const part = (fault: FormFault): unknown => {
    const key = /^\w+/.exec(fault.param)?.[0] ?? '';
    const field =
      {
        webhook_url: 'webhookUrl',
        voicemail_action: 'voicemailAction',
        interruption_words: 'interruptionWords',
      }[key] ?? key;
    return JSON.stringify(form[field as keyof AgentForm]);
  };
  const faults = tried ? formFaults(form) : [];
  // What the daemon refused stands until that part is changed.
  if (refused !== null && part(refused.fault) === refused.value) faults.push(refused.fault);
  return {
    form,
    saved,
    faults,
    isDirty: !sameForm(form, saved),
    set: (change: Partial<AgentForm>) => setForm((now) => ({ ...now, ...change })),
    /** Marks what is wrong; true when nothing is. */
    check(): boolean {
      setTried(true);
      return formFaults(form).length === 0;
    },
    refuse(error: unknown) {
      const { param, message } = toFailure(error);
      if (param === undefined) return;
      const fault = placedFault(form, { param, message });
      setRefused({ fault, value: part(fault) });
    },
    reset(next: AgentForm) {
      setSaved(next);
      setForm(next);
      setTried(false);
      setRefused(null);
    },
  };
}

/** Asks before something unsaved is lost. */
function useGuard(isDirty: boolean): { release: () => void } {
  const leave = useRef<() => void>(() => {});
  useEffect(() => {
    if (!isDirty) return;
    leave.current = guardLeaving(() =>
      confirm({
        title: 'Leave without saving?',
        text: 'What you changed on this page is lost.',
        action: 'Leave',
        danger: true,
      }),
    );
    return () => leave.current();
  }, [isDirty]);
  return { release: () => leave.current() };
}

/** To the first field that is marked as wrong, once the page shows it. */
function focusFirstFault(): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => document.querySelector<HTMLElement>('main [aria-invalid=true]')?.focus()),
  );
}

function SaveBar(props: {
  faults: readonly FormFault[];
  error: unknown;
  busy: boolean;
  isNew: boolean;
  isOvertaken?: boolean;
  onDrop: () => void;
}) {
  const { faults } = props;
  return html`<div class="save-bar">
    <div class="save-state" role="alert">
      ${
        faults.length > 0
          ? html`<span class="field-error">Not saved: ${counted(faults.length, 'place needs', 'places need')} mending. ${faults.length === 1 ? faults[0]?.message : ''}</span>`
          : props.isOvertaken === true
            ? html`<span class="field-error">Not saved: it was changed meanwhile.</span>`
            : props.error === null
              ? html`<span class="dim">${props.isNew ? 'Not created yet.' : 'Changes are not saved yet.'}</span>`
              : null
      }
    </div>
    <${Button} onClick=${props.onDrop}>${props.isNew ? 'Cancel' : 'Discard'}<//>
    <${Button} kind="primary" type="submit" busy=${props.busy}>${props.isNew ? 'Create agent' : 'Save changes'}<//>
  </div>`;
}

export function NewAgentPage() {
  const type = query.peek().get('type') === 'outbound' ? 'outbound' : 'inbound';
  const editor = useAgentForm({ ...newAgentForm(), type });
  const guard = useGuard(editor.isDirty);
  const [chosen, setChosen] = useState<string[]>([]);
  const numbers = useLoad(() => api.numbers.list({ limit: 100 }).all(500), []);
  const models = useLoad((signal) => api.models.list({ signal }), []);
  const { form } = editor;
  const active = (numbers.data ?? []).filter((number) => number.status === 'active');
  const create = useAction(async () => {
    try {
      // A number chosen for the other kind may not be had by this one.
      const ids = chosen.filter((id) =>
        active.some((number) => number.id === id && !isTaken(number, { type: form.type })),
      );
      const agent = await api.agents.create(newAgentOf(form, ids));
      guard.release();
      toast(`${agent.name} is created.`);
      await navigate(`/agents/${agent.id}`, { replace: true });
    } catch (error) {
      editor.refuse(error);
      focusFirstFault();
      throw error;
    }
  });
  const fields = {
    form,
    faults: editor.faults,
    set: editor.set,
    disabled: false,
    isNew: true,
    models: models.data,
  };
  return html`<${Page} title="New agent" back=${{ href: '/agents', label: 'Agents' }} lead="A name is enough to begin with: everything else has a default and can be changed later.">
    <form
      class="form-page"
      novalidate
      onSubmit=${(event: Event) => {
        event.preventDefault();
        if (editor.check()) void create.run();
        else focusFirstFault();
      }}
    >
      <div class="with-aside">
        <div><${TaskFields} ...${fields} /></div>
        <div>
          <${VoiceFields} ...${fields} />
          <${Section} title="Numbers">
            ${
              numbers.data !== undefined && active.length === 0
                ? html`<p class="dim">You have no numbers yet. The agent can be tried in the browser without one; <a href="/numbers/buy">buy a number</a> when it is ready.</p>`
                : html`<${NumberChoice}
                    numbers=${active.map((number: PhoneNumber) => ({ ...number, e164: phone(number.e164), taken: isTaken(number, { type: form.type }) }))}
                    chosen=${chosen}
                    onChange=${setChosen}
                    error=${faultAt(editor.faults, 'number_ids', { inside: true })}
                  />`
            }
            <${ErrorNote} error=${numbers.error} title="Your numbers could not be loaded." retry=${numbers.reload} />
          <//>
        </div>
      </div>
      <${MoreFields} ...${fields} />
      ${toFailure(create.error).param === undefined ? html`<${ErrorNote} error=${create.error} title="The agent was not created." focus />` : null}
      <${SaveBar} isNew faults=${editor.faults} error=${create.error} busy=${create.busy} onDrop=${() => navigate('/agents')} />
    </form>
  <//>`;
}

function About(props: { agent: Agent }) {
  const { agent } = props;
  return html`<${Section} title="About">
    <${Facts}
      rows=${[
        ['Kind', html`<${AgentType} type=${agent.type} />`],
        ['Created', html`<${Time} iso=${agent.created_at} />`],
        ['Changed', html`<${Time} iso=${agent.updated_at} />`],
        ['Id', html`<code>${agent.id}</code>`],
      ]}
    />
    <p class="help">Calls that are placed or live keep what the agent was when they began.</p>
  <//>`;
}

/** Somebody else, or the same person in another tab, has changed the same fields meanwhile: the agent as it is now. */
interface Overtaken {
  agent: Agent;
  fields: string[];
}

/**
 * Saves a change made on what the agent was at `madeOn`. Where others have changed other fields since, both changes stand;
 * where they have changed the same ones, nothing is saved, and the answer says which.
 */
async function saveChange(
  id: string,
  change: AgentChange,
  { saved, madeOn }: { saved: AgentForm; madeOn: string },
): Promise<Agent | Overtaken> {
  for (let at = madeOn; ; ) {
    try {
      return await api.agents.update(id, change, { ifUpdatedAt: at });
    } catch (error) {
      if (toFailure(error).code !== 'changed_meanwhile') throw error;
    }
    const now = await api.agents.get(id);
    const fields = contested(change, changeOf(saved, agentFormOf(now)));
    if (fields.length > 0) return { agent: now, fields };
    at = now.updated_at;
  }
}

function OvertakenNote(props: {
  overtaken: Overtaken;
  busy: boolean;
  onMine: () => void;
  onTheirs: () => void;
}) {
  const { agent, fields } = props.overtaken;
  const theirs = agent as unknown as Record<string, unknown>;
  // It stands below the fields: whoever saves from the bar at the bottom may be far from it.
  const note = useRef<HTMLDivElement>(null);
  useEffect(() => {
    note.current?.focus({ preventScroll: true });
    note.current?.scrollIntoView({ block: 'center' });
  }, [agent]);
  const text = (value: unknown) =>
    typeof value === 'string' ? value : value === null ? '(empty)' : JSON.stringify(value, null, 2);
  return html`<div role="alert" tabindex="-1" ref=${note}><${Note} kind="warn" title="Not saved: it was changed meanwhile.">
    <p>Changed <${Time} iso=${agent.updated_at} /> by somebody else or in another tab: ${fields.map(words).join(', ')}. This is what is there now:</p>
    ${fields.map((field) => html`<details key=${field} open=${fields.length === 1}><summary>${words(field)}</summary><pre class="theirs">${text(theirs[field])}</pre></details>`)}
    <div class="row">
      <${Button} busy=${props.busy} onClick=${props.onMine}>Save mine over it<//>
      <${Button} onClick=${props.onTheirs}>Take what is there<//>
    </div>
  <//></div>`;
}

function AgentEditor(props: { agent: Agent; onChange: (agent: Agent) => void }) {
  const { agent } = props;
  const editor = useAgentForm(agentFormOf(agent));
  const guard = useGuard(editor.isDirty);
  const [calling, setCalling] = useState(false);
  const models = useLoad((signal) => api.models.list({ signal }), []);
  const archived = agent.archived_at !== null;
  // What the form began as. Numbers are attached beside it: their answers are newer than what the form shows.
  const [madeOn, setMadeOn] = useState(agent.updated_at);
  const [overtaken, setOvertaken] = useState<Overtaken | null>(null);
  const show = (now: Agent) => {
    props.onChange(now);
    editor.reset(agentFormOf(now));
    setMadeOn(now.updated_at);
    setOvertaken(null);
  };
  const save = useAction(async (over: string | null) => {
    try {
      const change = changeOf(editor.saved, editor.form);
      if (Object.keys(change).length > 0) {
        const outcome = await saveChange(agent.id, change, { saved: editor.saved, madeOn: over ?? madeOn });
        if ('fields' in outcome) {
          setOvertaken(outcome);
          return;
        }
        show(outcome);
      } else show(agent);
      toast('Saved. The next call goes by it.');
    } catch (error) {
      editor.refuse(error);
      focusFirstFault();
      throw error;
    }
  });
  const archive = () =>
    confirm({
      title: `Archive ${agent.name}?`,
      text: html`<p>Its numbers are detached, and it can no longer be called, sent or changed. Live calls go on, and its calls stay
        where they are. This cannot be undone.</p>`,
      action: 'Archive',
      danger: true,
      run: async () => {
        const changed = await api.agents.archive(agent.id);
        guard.release();
        show(changed);
        toast(`${agent.name} is archived.`);
      },
    });
  const fields = {
    form: editor.form,
    faults: editor.faults,
    set: editor.set,
    disabled: archived,
    isNew: false,
    models: models.data,
  };
  const hasNumber = agent.numbers.some((number) => number.status === 'active');
  const actions: ComponentChildren = archived
    ? html`<${Button} href=${withQuery('/calls', { agent_id: agent.id })}>Its calls<//>`
    : html`<${Button} href=${withQuery('/calls', { agent_id: agent.id })}>Its calls<//>
        ${agent.type === 'outbound' ? html`<${Button} icon="calls" disabled=${!hasNumber} onClick=${() => setCalling(true)}>Place a call<//>` : null}
        <${Button} kind="primary" icon="try" href=${`/agents/${agent.id}/try`}>Try it<//>`;
  return html`<${Page}
    title=${agent.name}
    heading=${html`${agent.name}${archived ? html` <${Badge} dot=${false}>Archived<//>` : null}`}
    back=${{ href: '/agents', label: 'Agents' }}
    actions=${actions}
  >
    ${
      archived
        ? html`<${Note} kind="info" title="This agent is archived."><p>It can be read, not changed or used. To go on, create a new one.</p><//>`
        : agent.type === 'outbound' && !hasNumber
          ? html`<${Note} kind="warn" title="It has no number to call from."><p>Attach one below, then it can place calls. Trying it in the browser works without.</p><//>`
          : null
    }
    <form
      class="form-page"
      novalidate
      onSubmit=${(event: Event) => {
        event.preventDefault();
        if (editor.check()) void save.run(null);
        else focusFirstFault();
      }}
    >
      <div class="with-aside">
        <div><${TaskFields} ...${fields} /></div>
        <div><${VoiceFields} ...${fields} /></div>
      </div>
      <${MoreFields} ...${fields} />
      ${toFailure(save.error).param === undefined ? html`<${ErrorNote} error=${save.error} title="The changes were not saved." focus />` : null}
      ${overtaken === null ? null : html`<${OvertakenNote} overtaken=${overtaken} busy=${save.busy} onMine=${() => save.run(overtaken.agent.updated_at)} onTheirs=${() => show(overtaken.agent)} />`}
      ${
        editor.isDirty && !archived
          ? html`<${SaveBar} isNew=${false} isOvertaken=${overtaken !== null} faults=${editor.faults} error=${save.error} busy=${save.busy} onDrop=${() => {
              save.clear();
              setOvertaken(null);
              editor.reset(editor.saved);
            }} />`
          : null
      }
    </form>
    <div class="grid-2">
      <${NumbersPanel} agent=${agent} onChange=${props.onChange} />
      <${About} agent=${agent} />
    </div>
    ${
      archived
        ? null
        : html`<${Section} title="Archive" lead="For an agent that is no longer needed. Its calls stay, and nothing is deleted.">
            <div><${Button} kind="danger" onClick=${archive}>Archive this agent<//></div>
          <//>`
    }
    ${calling ? html`<${PlaceCallDialog} agent=${agent} onClose=${() => setCalling(false)} />` : null}
  <//>`;
}

export function AgentPage(props: PageProps) {
  const id = props.params.id ?? '';
  const agent = useLoad((signal) => api.agents.get(id, { signal }), [id]);
  if (agent.data !== undefined)
    return html`<${AgentEditor} key=${id} agent=${agent.data} onChange=${agent.set} />`;
  return html`<${Page} title="Agent" back=${{ href: '/agents', label: 'Agents' }}>
    <${Loaded} load=${agent} skeleton=${html`<${Skeleton} lines=${3} height="card" />`} title="The agent could not be loaded.">${() => null}<//>
  <//>`;
}
