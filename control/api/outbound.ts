// The routes of outbound calls: the rules, a number tried without calling it, what was refused, and consents.

import { AppError } from '../../errors.ts';
import type { ConsentRecord, RefusedCallRecord } from '../../storage/outbound/outbound-records.ts';
import type { OutboundRules } from '../../storage/outbound/rules.ts';
import type { OutboundRulesView } from '../../storage/outbound-verbs.ts';
import { doerOf } from '../http/actor.ts';
import { found } from '../http/answer.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './outbound-schemas.ts';

function rulesView({ rules, ...view }: OutboundRulesView) {
  return { ...rules, ...view };
}

function refusedView({ org_id: _org, ...refused }: RefusedCallRecord) {
  return refused;
}

function consentView({ org_id: _org, number_hash: _hash, ...consent }: ConsentRecord) {
  return consent;
}

const NO_CONSENT = 'Your organization has no consent with this id; GET /v1/consents lists them.';

export const outboundRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/outbound_rules',
    operation: 'getOutboundRules',
    summary: 'Read whom the organization may call, when and how often',
    status: 200,
    answer: schemas.rulesAnswer,
    async run({ store, orgId }) {
      return { body: rulesView(await store.getOutboundRules(orgId)) };
    },
  }),

  route({
    method: 'patch',
    path: '/v1/outbound_rules',
    operation: 'updateOutboundRules',
    needs: 'admin',
    summary: 'Change whom the organization may call, when and how often',
    description: 'They hold from the next call on; live calls go on.',
    status: 200,
    body: schemas.changeRules,
    answer: schemas.rulesAnswer,
    async run({ store, orgId, actor, body, log }) {
      const { reset = [], ...given } = body;
      const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const by = doerOf(actor);
      const changed = await store.setOutboundRules(
        orgId,
        { set: set as Partial<OutboundRules>, unset: reset },
        by,
      );
      log.info({ org_id: orgId, by, rules: Object.keys(set), reset }, 'outbound.rules_changed');
      return { body: rulesView(changed) };
    },
  }),

  route({
    method: 'post',
    path: '/v1/outbound_check',
    operation: 'checkOutbound',
    needs: 'read',
    errors: ['invalid_number', 'agent_not_found'],
    summary: 'Try a number without calling it',
    description:
      'What the gate would say of a call now, with everything that speaks against it. Nothing is counted.',
    status: 200,
    body: schemas.check,
    answer: schemas.checkAnswer,
    async run({ store, orgId, body }) {
      if (body.agent_id !== undefined && (await store.getAgent(orgId, body.agent_id)) === null) {
        throw new AppError(
          'agent_not_found',
          'Your organization has no agent with this id; GET /v1/agents lists them.',
          { param: 'agent_id' },
        );
      }
      const { number, local_times, refusals } = await store.decideOutbound(orgId, {
        to: body.to,
        from: body.from_number,
        agentId: body.agent_id,
      });
      const { country, kind, zones } = number;
      return {
        body: { to: body.to, allowed: refusals.length === 0, country, kind, zones, local_times, refusals },
      };
    },
  }),

  route({
    method: 'get',
    path: '/v1/refused_calls',
    operation: 'listRefusedCalls',
    summary: 'List calls that were not placed, newest first',
    status: 200,
    query: schemas.listRefused,
    answer: schemas.refusedList,
    async run({ store, orgId, query, url }) {
      return page({
        query,
        url,
        exists: (id) => store.getRefusedCall(orgId, id),
        list: (at) => store.listRefusedCalls(orgId, { code: query.code }, at),
        body: (data) => ({ data: data.map(refusedView) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/consents',
    operation: 'listConsents',
    errors: ['invalid_number'],
    summary: 'List consents, newest first',
    status: 200,
    query: schemas.listConsents,
    answer: schemas.consentList,
    async run({ store, orgId, query, url }) {
      return page({
        query,
        url,
        exists: (id) => store.getConsent(orgId, id),
        list: (at) => store.listConsents(orgId, { number: query.number }, at),
        body: (data) => ({ data: data.map(consentView) }),
      });
    },
  }),

  route({
    method: 'post',
    path: '/v1/consents',
    operation: 'addConsents',
    errors: ['invalid_number'],
    summary: 'Enter consents to be called',
    status: 201,
    body: schemas.addConsents,
    answer: schemas.consentList,
    once: { failures: 'dropped' },
    async run({ store, orgId, actor, body, now }) {
      const given_at = new Date(body.given_at).toISOString();
      if (given_at > now().toISOString()) {
        throw new AppError('invalid_request', 'given_at may not be in the future.', { param: 'given_at' });
      }
      const { purpose, source, evidence } = body;
      const consents = [...new Set(body.numbers)].map((number) => ({
        number,
        purpose,
        source,
        given_at,
        evidence,
        created_by: doerOf(actor),
      }));
      return { body: { data: (await store.addConsents(orgId, consents)).map(consentView) } };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/consents/:id',
    operation: 'revokeConsent',
    summary: 'Revoke a consent',
    description: 'It stays on the list, with the time; calls that need one are refused from now on.',
    status: 200,
    answer: schemas.consent,
    async run({ store, orgId, params }) {
      return { body: consentView(found(await store.revokeConsent(orgId, params.id), NO_CONSENT)) };
    },
  }),
];
