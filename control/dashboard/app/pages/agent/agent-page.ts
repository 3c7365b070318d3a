// One agent: changed, tried beside its editor, sent to call somebody, archived. What is typed is kept until it is saved or
// dropped on purpose.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Agent } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { toFailure } from '../../failure.ts';
import { agentFormOf, changeOf } from '../../forms/agent-form.ts';
import type { PageProps } from '../../route-match.ts';
import { withQuery } from '../../route-match.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { ErrorNote, Loaded, Note, Skeleton } from '../../ui/feedback.ts';
import { useAction, useLoad } from '../../ui/load.ts';
import { Facts, Page, Section } from '../../ui/page.ts';
import { Badge } from '../../ui/status.ts';
import { toast } from '../../ui/toast.ts';
import { Time } from '../../ui/values.ts';
import { AgentType } from '../agent-type.ts';
import { AgentEditor, useShowRefused } from './agent-editor.ts';
import { NumbersPanel } from './numbers-panel.ts';
import { type Overtaken, OvertakenNote, saveChange } from './overtaken.ts';
import { PlaceCallDialog } from './place-call.ts';
import { SaveBar } from './save-bar.ts';
import { useAgentForm, useGuard } from './use-agent-form.ts';

function About(props: { agent: Agent; onArchive: () => void }) {
  const { agent } = props;
  const archived = agent.archived_at !== null;
  return html`<${Section} title="About">
      <${Facts}
        columns
        rows=${[
          ['Kind', html`<${AgentType} type=${agent.type} />`],
          ['Created', html`<${Time} iso=${agent.created_at} />`],
          ['Changed', html`<${Time} iso=${agent.updated_at} />`],
          ['Id', html`<code>${agent.id}</code>`],
        ]}
      />
      <p class="help">Calls that are placed or live keep what the agent was when they began.</p>
    <//>
    ${
      archived
        ? null
        : html`<${Section} title="Archive" lead="For an agent that is no longer needed. Its calls stay, and nothing is deleted.">
            <div><${Button} needs="operate" kind="danger" onClick=${props.onArchive}>Archive this agent<//></div>
          <//>`
    }`;
}

/** Saving one, by whoever else it may have been changed meanwhile. */
function useSaving(agent: Agent, onChange: (agent: Agent) => void) {
  const editor = useAgentForm(agentFormOf(agent));
  const guard = useGuard(editor.isDirty);
  const showRefused = useShowRefused(editor);
  // What the form began as. Numbers are attached beside it: their answers are newer than what the form shows.
  const [madeOn, setMadeOn] = useState(agent.updated_at);
  const [overtaken, setOvertaken] = useState<Overtaken | null>(null);
  const show = (now: Agent) => {
    onChange(now);
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
      showRefused(error);
      throw error;
    }
  });
  const discard = () => {
    save.clear();
    setOvertaken(null);
    editor.reset(editor.saved);
  };
  return { editor, guard, save, overtaken, show, discard };
}

function OneAgent(props: { agent: Agent; onChange: (agent: Agent) => void }) {
  const { agent } = props;
  const { editor, guard, save, overtaken, show, discard } = useSaving(agent, props.onChange);
  const [calling, setCalling] = useState(false);
  const models = useLoad((signal) => api.models.list({ signal }), []);
  const archived = agent.archived_at !== null;
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
  const hasNumber = agent.numbers.some((number) => number.status === 'active');
  const actions: ComponentChildren = html`<${Button} href=${withQuery('/calls', { agent_id: agent.id })}>Its calls<//>
    ${!archived && agent.type === 'outbound' ? html`<${Button} needs="operate" icon="calls" disabled=${!hasNumber} onClick=${() => setCalling(true)}>Place a call<//>` : null}`;
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
          ? html`<${Note} kind="warn" title="It has no number to call from."><p>Attach one under Numbers, then it can place calls. Trying it works without.</p><//>`
          : null
    }
    <${AgentEditor}
      editor=${editor}
      agentId=${agent.id}
      models=${models.data}
      disabled=${archived}
      onSubmit=${() => void save.run(null)}
      numberCount=${agent.numbers.length}
      numbers=${html`<${NumbersPanel} agent=${agent} onChange=${props.onChange} />`}
      about=${html`<${About} agent=${agent} onArchive=${archive} />`}
      foot=${html`${toFailure(save.error).param === undefined ? html`<${ErrorNote} error=${save.error} title="The changes were not saved." focus />` : null}
        ${overtaken === null ? null : html`<${OvertakenNote} overtaken=${overtaken} busy=${save.busy} onMine=${() => save.run(overtaken.agent.updated_at)} onTheirs=${() => show(overtaken.agent)} />`}
        ${
          editor.isDirty && !archived
            ? html`<${SaveBar} isNew=${false} isOvertaken=${overtaken !== null} faults=${editor.faults} error=${save.error} busy=${save.busy} onDrop=${discard} />`
            : null
        }`}
    />
    ${calling ? html`<${PlaceCallDialog} agent=${agent} onClose=${() => setCalling(false)} />` : null}
  <//>`;
}

export function AgentPage(props: PageProps) {
  const id = props.params.id ?? '';
  const agent = useLoad((signal) => api.agents.get(id, { signal }), [id]);
  if (agent.data !== undefined)
    return html`<${OneAgent} key=${id} agent=${agent.data} onChange=${agent.set} />`;
  return html`<${Page} title="Agent" back=${{ href: '/agents', label: 'Agents' }}>
    <${Loaded} load=${agent} skeleton=${html`<${Skeleton} lines=${3} height="card" />`} title="The agent could not be loaded.">${() => null}<//>
  <//>`;
}
