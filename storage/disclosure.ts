// What an agent says before all else where nobody has chosen, and by which name an organization is spoken of. PURE.
import type { AgentDisclosure, AgentType, OrganizationRecord } from './records.ts';

/** The name that the first organization has until it is given one. */
export const UNNAMED = 'Default';

/** Of an agent for which nothing was chosen: whoever is called is told who calls. */
export function disclosureOf(agent: {
  type: AgentType;
  disclosure: AgentDisclosure | null;
}): AgentDisclosure {
  return agent.disclosure ?? { mode: agent.type === 'outbound' ? 'standard' : 'off', text: null };
}

/** Null: none that means anything to somebody who is called. */
export function spokenNameOf(
  organization: Pick<OrganizationRecord, 'name' | 'spoken_name'> | null,
): string | null {
  if (organization === null) return null;
  return organization.spoken_name ?? (organization.name === UNNAMED ? null : organization.name);
}
