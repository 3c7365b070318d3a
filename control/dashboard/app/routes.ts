// Every page: its path, the module that shows it (loaded when it is first wanted), and its place in the navigation.
import type { ComponentType } from 'preact';
import type { PageProps } from './route-match.ts';
import type { Permission } from './session.ts';
import type { IconName } from './ui/icon.ts';

/** The parts of the navigation, from the top. A page names its own; within a part pages stand as they do in ROUTES. */
export const NAV_GROUPS = [
  { id: 'work', label: 'Calls' },
  { id: 'build', label: 'Agents and numbers' },
  { id: 'connect', label: 'Connections' },
  { id: 'team', label: 'Organization' },
] as const;

/** What has a place of its own at the foot of a narrow screen. */
export const AT_FOOT: ReadonlySet<string> = new Set(['/', '/live', '/calls', '/agents']);

export interface Route {
  path: string;
  load: () => Promise<ComponentType<PageProps>>;
  /** Shown to whoever may; the daemon refuses what the page would ask for. */
  needs?: Permission;
  /** Missing: reached from another page. */
  nav?: { label: string; icon: IconName; group: (typeof NAV_GROUPS)[number]['id'] };
}

export const ROUTES: readonly Route[] = [
  {
    path: '/',
    load: async () => (await import('./pages/overview.ts')).OverviewPage,
    nav: { label: 'Overview', icon: 'overview', group: 'work' },
  },
  {
    path: '/live',
    load: async () => (await import('./pages/live.ts')).LivePage,
    nav: { label: 'Live', icon: 'live', group: 'work' },
  },
  {
    path: '/calls',
    load: async () => (await import('./pages/calls.ts')).CallsPage,
    nav: { label: 'Calls', icon: 'calls', group: 'work' },
  },
  { path: '/calls/:id', load: async () => (await import('./pages/call.ts')).CallPage },
  {
    path: '/campaigns',
    load: async () => (await import('./pages/campaigns/campaigns-page.ts')).CampaignsPage,
    nav: { label: 'Campaigns', icon: 'campaigns', group: 'work' },
  },
  {
    path: '/campaigns/:id',
    load: async () => (await import('./pages/campaigns/campaign-page.ts')).CampaignPage,
  },
  {
    path: '/agents',
    load: async () => (await import('./pages/agents.ts')).AgentsPage,
    nav: { label: 'Agents', icon: 'agents', group: 'build' },
  },
  { path: '/agents/new', load: async () => (await import('./pages/agent/templates-page.ts')).TemplatesPage },
  {
    path: '/agents/new/:template',
    load: async () => (await import('./pages/agent/new-agent-page.ts')).NewAgentPage,
  },
  { path: '/agents/:id', load: async () => (await import('./pages/agent/agent-page.ts')).AgentPage },
  // The same, with the trial in view where there is room for one of the two only.
  { path: '/agents/:id/try', load: async () => (await import('./pages/agent/agent-page.ts')).AgentPage },
  {
    path: '/numbers',
    load: async () => (await import('./pages/numbers.ts')).NumbersPage,
    nav: { label: 'Numbers', icon: 'numbers', group: 'build' },
  },
  { path: '/numbers/buy', load: async () => (await import('./pages/buy-number.ts')).BuyNumberPage },
  {
    path: '/outbound',
    load: async () => (await import('./pages/outbound/outbound-page.ts')).OutboundPage,
    nav: { label: 'Outbound', icon: 'outbound', group: 'build' },
  },
  {
    path: '/webhooks',
    load: async () => (await import('./pages/webhooks/webhooks-page.ts')).WebhooksPage,
    nav: { label: 'Webhooks', icon: 'webhooks', group: 'connect' },
  },
  {
    path: '/webhooks/deliveries',
    load: async () => (await import('./pages/webhooks/endpoint-page.ts')).DeliveriesPage,
  },
  {
    path: '/webhooks/:id',
    load: async () => (await import('./pages/webhooks/endpoint-page.ts')).EndpointPage,
  },
  {
    path: '/alerts',
    load: async () => (await import('./pages/alerts.ts')).AlertsPage,
    nav: { label: 'Alerts', icon: 'alerts', group: 'connect' },
  },
  {
    path: '/keys',
    needs: 'admin',
    load: async () => (await import('./pages/keys.ts')).KeysPage,
    nav: { label: 'API keys', icon: 'keys', group: 'connect' },
  },
  {
    path: '/people',
    needs: 'admin',
    load: async () => (await import('./pages/people.ts')).PeoplePage,
    nav: { label: 'People', icon: 'people', group: 'team' },
  },
  {
    path: '/audit-log',
    needs: 'admin',
    load: async () => (await import('./pages/audit-log.ts')).AuditLogPage,
    nav: { label: 'Audit log', icon: 'audit', group: 'team' },
  },
  { path: '/account', load: async () => (await import('./pages/account.ts')).AccountPage },
  {
    path: '/settings',
    load: async () => (await import('./pages/settings.ts')).SettingsPage,
    nav: { label: 'Settings', icon: 'settings', group: 'team' },
  },
  { path: '/settings/kept', load: async () => (await import('./pages/kept/kept-page.ts')).KeptPage },
];
