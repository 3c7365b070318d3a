// Every route of /v1: what is served, and what the API reference and the SDK's types are made from.
import type { Route } from '../http/route.ts';
import { agentRoutes } from './agents.ts';
import { alertRoutes } from './alerts.ts';
import { auditLogRoutes } from './audit-log.ts';
import { balanceRoutes } from './balance.ts';
import { callActivityRoutes } from './call-activity.ts';
import { callRoutes } from './calls.ts';
import { campaignContactRoutes } from './campaign-contacts.ts';
import { campaignRoutes } from './campaigns.ts';
import { doNotCallRoutes } from './do-not-call.ts';
import { erasureRoutes } from './erasures.ts';
import { eventRoutes } from './events.ts';
import { legalHoldRoutes } from './legal-holds.ts';
import { logRoutes } from './logs.ts';
import { modelRoutes } from './models.ts';
import { numberRoutes } from './numbers.ts';
import { ownOrganizationRoutes } from './organization.ts';
import { organizationRoutes } from './organizations.ts';
import { outboundRoutes } from './outbound.ts';
import { retentionRoutes } from './retention.ts';
import { webhookRoutes } from './webhook-endpoints.ts';
import { webhookSecretRoutes } from './webhook-secret.ts';

export const ROUTES: readonly Route[] = [
  ...agentRoutes,
  ...modelRoutes,
  ...numberRoutes,
  ...callRoutes,
  ...callActivityRoutes,
  ...outboundRoutes,
  ...doNotCallRoutes,
  ...campaignRoutes,
  ...campaignContactRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...webhookSecretRoutes,
  ...alertRoutes,
  ...balanceRoutes,
  ...ownOrganizationRoutes,
  ...organizationRoutes,
  ...logRoutes,
  ...retentionRoutes,
  ...erasureRoutes,
  ...legalHoldRoutes,
  ...auditLogRoutes,
];
