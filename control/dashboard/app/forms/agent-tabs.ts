// The tabs of an agent's editor, and which of them shows a field. PURE.

export const AGENT_TABS = ['instructions', 'tools', 'results', 'numbers', 'advanced'] as const;
export type AgentTab = (typeof AGENT_TABS)[number];

const FIRST = /^(name|type|instructions|persona|voice|language)$/;

/** The tab where a place of the form stands, by the name that the API has for it. What no tab names is advanced. */
export function tabOf(param: string): AgentTab {
  const field = /^\w+/.exec(param)?.[0] ?? '';
  if (field === 'tools') return 'tools';
  if (field === 'returns' || field === 'summarize') return 'results';
  if (field === 'number_ids' || field === 'primary_number_id') return 'numbers';
  return FIRST.test(field) ? 'instructions' : 'advanced';
}

/** What the address says; the first one for anything else. */
export function tabNamed(name: string | null): AgentTab {
  return AGENT_TABS.find((tab) => tab === name) ?? 'instructions';
}
