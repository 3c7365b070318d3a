// Saving an agent that somebody else may have changed meanwhile.
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Agent, AgentChange } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { toFailure } from '../../failure.ts';
import { words } from '../../format.ts';
import { type AgentForm, agentFormOf, changeOf, contested } from '../../forms/agent-form.ts';
import { Button } from '../../ui/button.ts';
import { Note } from '../../ui/feedback.ts';
import { Time } from '../../ui/values.ts';

/** Somebody else, or the same person in another tab, has changed the same fields meanwhile: the agent as it is now. */
export interface Overtaken {
  agent: Agent;
  fields: string[];
}

/**
 * Saves a change made on what the agent was at `madeOn`. Where others have changed other fields since, both changes stand;
 * where they have changed the same ones, nothing is saved, and the answer says which.
 */
export async function saveChange(
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

export function OvertakenNote(props: {
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
