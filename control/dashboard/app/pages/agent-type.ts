// Whether an agent answers calls or places them, in words with a sign.
import { html } from 'htm/preact';
import { Icon } from '../ui/icon.ts';

const TYPE_WORD = { inbound: 'Answers calls', outbound: 'Places calls' } as const;

export function AgentType(props: { type: 'inbound' | 'outbound' }) {
  return html`<span class="agent-type"><${Icon} name=${props.type} size=${14} />${TYPE_WORD[props.type]}</span>`;
}
