// What a new agent begins from: one of a few that work as they stand, or nothing.
import { html } from 'htm/preact';
import { AGENT_TEMPLATES } from '../../forms/agent-templates.ts';
import { Page } from '../../ui/page.ts';
import { AgentType } from '../agent-type.ts';

/** Each a way to the editor, filled. */
export function TemplateCards() {
  return html`<ul class="templates">
    ${AGENT_TEMPLATES.map(
      ({ id, title, text, type, returns }) => html`<li class="card template" key=${id}>
        <h2><a class="card-link" href=${`/agents/new/${id}`}>${title}</a></h2>
        <p>${text}</p>
        <p class="small"><${AgentType} type=${type} /></p>
        <p class="small dim">Brings back ${Object.keys(returns).length} fields</p>
      </li>`,
    )}
    <li class="card template">
      <h2><a class="card-link" href="/agents/new/blank">From nothing</a></h2>
      <p>An empty agent: a name is enough to begin with.</p>
    </li>
  </ul>`;
}

export function TemplatesPage() {
  return html`<${Page}
    title="New agent"
    back=${{ href: '/agents', label: 'Agents' }}
    lead="Begin from what comes nearest. Everything in it can be changed, and tried before it is created."
  >
    <${TemplateCards} />
  <//>`;
}
