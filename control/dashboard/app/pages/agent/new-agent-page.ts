// An agent that is not there yet: begun from a template or from nothing, and tried before it is created.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { toFailure } from '../../failure.ts';
import { faultAt, newAgentOf } from '../../forms/agent-form.ts';
import { AGENT_TEMPLATES, formOfTemplate } from '../../forms/agent-templates.ts';
import type { PageProps } from '../../route-match.ts';
import { ErrorNote } from '../../ui/feedback.ts';
import { useAction, useLoad } from '../../ui/load.ts';
import { Page } from '../../ui/page.ts';
import { navigate } from '../../ui/router.ts';
import { toast } from '../../ui/toast.ts';
import { AgentEditor, useShowRefused } from './agent-editor.ts';
import { NumberChoice } from './number-choice.ts';
import { isTaken } from './numbers-panel.ts';
import { SaveBar } from './save-bar.ts';
import { useAgentForm, useGuard } from './use-agent-form.ts';

export function NewAgentPage(props: PageProps) {
  const template = AGENT_TEMPLATES.find(({ id }) => id === props.params.template);
  const editor = useAgentForm(formOfTemplate(template?.id ?? null));
  const guard = useGuard(editor.isDirty);
  const showRefused = useShowRefused(editor);
  const [chosen, setChosen] = useState<string[]>([]);
  const numbers = useLoad(() => api.numbers.list({ limit: 100 }).all(500), []);
  const models = useLoad((signal) => api.models.list({ signal }), []);
  const { form } = editor;
  const create = useAction(async () => {
    try {
      // A number chosen for the other kind may not be had by this one.
      const ids = (numbers.data ?? [])
        .filter((number) => chosen.includes(number.id) && !isTaken(number, { type: form.type }))
        .map(({ id }) => id);
      const agent = await api.agents.create(newAgentOf(form, ids));
      guard.release();
      toast(`${agent.name} is created.`);
      await navigate(`/agents/${agent.id}`, { replace: true });
    } catch (error) {
      showRefused(error);
      throw error;
    }
  });
  return html`<${Page}
    title="New agent"
    back=${{ href: '/agents/new', label: 'Templates' }}
    lead=${template === undefined ? 'A name is enough to begin with: everything else has a default and can be changed later.' : `${template.title}: what stands in [brackets] is yours to fill in. Try it beside whenever you like.`}
  >
    <${AgentEditor}
      editor=${editor}
      agentId=${null}
      models=${models.data}
      disabled=${false}
      onSubmit=${() => void create.run()}
      numberCount=${chosen.length}
      numbers=${html`<${NumberChoice} numbers=${numbers} type=${form.type} chosen=${chosen} onChange=${setChosen} error=${faultAt(editor.faults, 'number_ids', { inside: true })} />`}
      foot=${html`${toFailure(create.error).param === undefined ? html`<${ErrorNote} error=${create.error} title="The agent was not created." focus />` : null}
        <${SaveBar} isNew faults=${editor.faults} error=${create.error} busy=${create.busy} onDrop=${() => navigate('/agents')} />`}
    />
  <//>`;
}
