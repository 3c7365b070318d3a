// An agent's two panes: its editor in tabs, and the trial that stays beside it. Where there is room for one only, a switch
// shows either; a call goes on while the editor is looked at.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { SpeechModel } from '../../../../sdk/index.ts';
import { type AgentForm, type FormFault, newAgentOf } from '../../forms/agent-form.ts';
import { type AgentTab, tabNamed, tabOf } from '../../forms/agent-tabs.ts';
import { withQuery } from '../../route-match.ts';
import { Checkbox, Segments } from '../../ui/field.ts';
import { Section } from '../../ui/page.ts';
import { navigate, path, query } from '../../ui/router.ts';
import { Tabs } from '../../ui/tabs.ts';
import { ADVANCED_GROUPS } from './advanced/groups.ts';
import type { FieldsProps } from './fields.ts';
import { InstructionsTab } from './instructions-tab.ts';
import { ReturnsEditor } from './returns-editor.ts';
import { ToolsEditor } from './tools-editor.ts';
import { TryPane } from './try-pane.ts';
import type { AgentFormState } from './use-agent-form.ts';

/** To the first field that is marked as wrong, once the tab that shows it is there. */
function focusFault(): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>('main .tab-panel:not([hidden]) [aria-invalid=true]')?.focus(),
    ),
  );
}

/** The tab of the address, and how another one comes into view. */
function useTab() {
  const tab = tabNamed(query.value.get('tab'));
  const show = (next: AgentTab) =>
    void navigate(withQuery(path.peek(), { tab: next === 'instructions' ? undefined : next }), {
      replace: true,
      quiet: true,
    });
  return { tab, show };
}

export function AgentEditor(props: {
  editor: AgentFormState;
  /** Null: it is not created yet. */
  agentId: string | null;
  models: readonly SpeechModel[] | undefined;
  disabled: boolean;
  /** Saves; the form is right as far as can be said here. */
  onSubmit: () => void;
  /** How many numbers it has. */
  numberCount: number;
  numbers: ComponentChildren;
  /** At the end of the last tab. */
  about?: ComponentChildren;
  /** Below the tabs: what went wrong, and the bar. */
  foot: ComponentChildren;
}) {
  const { editor, agentId, disabled } = props;
  const { form, faults } = editor;
  const { tab, show } = useTab();
  const [view, setView] = useState<'edit' | 'try'>(path.peek().endsWith('/try') ? 'try' : 'edit');
  const isNew = agentId === null;
  const fields: FieldsProps = { form, faults, set: editor.set, disabled, isNew, models: props.models };
  const go = (found: readonly FormFault[]) => {
    const [first] = found;
    if (first === undefined) return;
    if (!found.some(({ param }) => tabOf(param) === tab)) show(tabOf(first.param));
    focusFault();
  };
  const faulty = (name: AgentTab) => faults.some(({ param }) => tabOf(param) === name);
  // The end of a call is always there, and no card of its own to count.
  const tools = form.tools.filter(({ type }) => type !== 'end_call').length;
  const tabs = [
    { name: 'instructions', label: 'Instructions', panel: html`<${InstructionsTab} ...${fields} />` },
    {
      name: 'tools',
      label: 'Tools',
      count: tools,
      panel: html`<${Section} title="What it may do" lead="Tools that the agent uses during a call, when its instructions or the talk ask for it.">
        <${ToolsEditor} value=${form.tools} faults=${faults} disabled=${disabled} onChange=${(next: AgentForm['tools']) => editor.set({ tools: next })} />
      <//>`,
    },
    {
      name: 'results',
      label: 'Results',
      count: form.returns.rows.length,
      panel: html`<${Section} title="What it brings back" lead="After each call these fields are read from the transcript. What was not said comes back as null, never guessed.">
        <${ReturnsEditor} value=${form.returns} faults=${faults} disabled=${disabled} onChange=${(returns: AgentForm['returns']) => editor.set({ returns })} />
      <//>
      <${Section} title="Summary">
        <${Checkbox}
          label="Sum each call up when it is over: one to three sentences, and whether they were pleased"
          checked=${form.summarize}
          disabled=${disabled}
          onChange=${(summarize: boolean) => editor.set({ summarize })}
        />
      <//>`,
    },
    { name: 'numbers', label: 'Numbers', count: props.numberCount, panel: props.numbers },
    {
      name: 'advanced',
      label: 'Advanced',
      panel: html`${ADVANCED_GROUPS.map(({ name, Group }) => html`<${Group} key=${name} ...${fields} />`)}${props.about}`,
    },
  ] as const;
  const draft = { ...newAgentOf(form, []), name: form.name.trim() === '' ? 'New agent' : form.name.trim() };
  return html`<div class="agent-panes" data-view=${view}>
    ${
      disabled
        ? null
        : html`<div class="pane-switch">
            <${Segments} label="Shown" value=${view} options=${[{ value: 'edit', label: 'Edit' }, { value: 'try', label: 'Try it' }]} onChange=${(next: string) => setView(next === 'try' ? 'try' : 'edit')} />
          </div>`
    }
    <div class="edit-pane">
      <${Tabs} label="Parts of the agent" chosen=${tab} onChange=${show} tabs=${tabs.map((one) => ({ ...one, faulty: faulty(one.name) }))} />
      <form
        class="agent-foot"
        novalidate
        onSubmit=${(event: Event) => {
          event.preventDefault();
          const found = editor.check();
          if (found.length === 0) props.onSubmit();
          else go(found);
        }}
      >
        ${props.foot}
      </form>
    </div>
    ${
      disabled
        ? null
        : html`<div class="try-pane">
            <${TryPane}
              agentId=${agentId}
              draft=${isNew || editor.isDirty ? draft : null}
              hasResult=${form.returns.rows.length > 0}
              check=${() => {
                // A name is needed to save it, not to try it.
                const found = editor.check().filter(({ param }) => param !== 'name');
                go(found);
                return found.length === 0;
              }}
              onRefused=${(error: unknown) => {
                const fault = editor.refuse(error);
                if (fault !== null) go([fault]);
              }}
            />
          </div>`
    }
  </div>`;
}

/** After the daemon refused to save: to what it refused. */
export function useShowRefused(editor: AgentFormState): (error: unknown) => void {
  const { show } = useTab();
  return (error) => {
    const fault = editor.refuse(error);
    if (fault === null) return;
    show(tabOf(fault.param));
    focusFault();
  };
}
