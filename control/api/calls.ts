// The call routes: dispatch in both forms, list, read, transcript, recording, cancel, hang up. The rules of what a new call
// takes from where are in new-call.ts; placing it is the bridge's.
import path from 'node:path';
import type { z } from 'zod';
import type { Calls } from '../../bridge/calls/calls.ts';
import { AppError } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import { callView } from '../../storage/call-view.ts';
import { GATE_CODES } from '../../storage/outbound/outbound-records.ts';
import { type CallRecord, TERMINAL_STATUSES } from '../../storage/records.ts';
import type { CallFilters, Store } from '../../storage/store.ts';
import { doerOf, mustBeAllowed } from '../http/actor.ts';
import { found } from '../http/answer.ts';
import { page } from '../http/paging.ts';
import { checkOwnLimit, tokenBuckets } from '../http/rate-limit.ts';
import { type Route, route } from '../http/route.ts';
import { callColumns, callRows } from './call-export.ts';
import * as queries from './call-query-schemas.ts';
import * as schemas from './call-schemas.ts';
import { sendCsv } from './csv.ts';
import { agentCall, promptCall } from './new-call.ts';
import { sendRecording } from './recording-answer.ts';

export const NO_CALL = 'Your organization has no call with this id; GET /v1/calls lists them.';

/** Searches of all organizations share one reader of the database. */
const SEARCHES_PER_SECOND = 5;
const searches = tokenBuckets(SEARCHES_PER_SECOND, SEARCHES_PER_SECOND);

/** What another daemon still has of a call that is over, at most: it cannot be seen from here. */
const LAST_WORDS_MS = 10_000;

/** Ended, and its last words and sounds are in: a media thread keeps a call for a moment beyond its end. */
export async function isFinal(
  call: CallRecord,
  o: { calls: Pick<Calls, 'live'>; store: Pick<Store, 'ownerOf' | 'self'>; now: () => Date },
): Promise<boolean> {
  if (!(TERMINAL_STATUSES as readonly string[]).includes(call.status)) return false;
  if (o.calls.live().some((live) => live.callId === call.id)) return false;
  const owner = await o.store.ownerOf(call.id);
  if (owner === null || owner.epoch === o.store.self().epoch || owner.ended_at !== null) return true;
  return o.now().getTime() - Date.parse(call.ended_at ?? call.updated_at) > LAST_WORDS_MS;
}

const filtersOf = (query: Omit<z.output<typeof queries.exportCalls>, 'columns' | 'bom'>): CallFilters => ({
  status: query.status,
  direction: query.direction,
  agentId: query.agent_id,
  toNumber: query.to_number,
  fromNumber: query.from_number,
  createdAfter: query.created_after,
  createdBefore: query.created_before,
  search: query.search,
});

export const callRoutes: Route[] = [
  route({
    method: 'post',
    path: '/v1/calls',
    operation: 'createCall',
    errors: [
      'invalid_number',
      'invalid_returns',
      'invalid_url',
      'blocked_address',
      'agent_not_found',
      'agent_archived',
      'agent_not_outbound',
      'agent_has_no_number',
      'invalid_model',
      'from_number_not_attached',
      'from_number_not_owned',
      'no_active_number',
      'insufficient_credit',
      ...GATE_CODES,
      'conflict',
      'carrier_error',
      'at_capacity',
      'draining',
    ],
    summary: 'Place a call, of an agent or by a prompt',
    description:
      'The call is placed at once. The carrier is asked before the answer: 201 means that it has accepted the call; 502 that it refused or could not be reached, and the call is kept as failed. With an Idempotency-Key a repeat dials nothing and answers what the first request was answered, also after a failure or a crash.',
    status: 201,
    body: schemas.createCall,
    choose: (body) =>
      Object.hasOwn(body, 'agent_id')
        ? { schema: schemas.dispatchCall, hints: schemas.DISPATCH_HINTS }
        : { schema: schemas.promptCall, hints: schemas.PROMPT_HINTS },
    answer: schemas.call,
    // After a failure nobody can be sure that no phone rang: a repeat dials nothing.
    once: {
      failures: 'kept',
      async recover({ store, orgId }, id) {
        const call = await store.getCall(orgId, id);
        return call === null ? null : { body: callView(call) };
      },
    },
    async run({ body, calls, intend, actor, log, ...parts }) {
      if (body.override !== undefined) mustBeAllowed(actor, 'admin');
      const by = doerOf(actor);
      const override = body.override === undefined ? undefined : { by, ...body.override };
      const call = 'agent_id' in body ? await agentCall(parts, body) : await promptCall(parts, body);
      await intend(call.id);
      failpoint('intent_before_row');
      try {
        const dispatched = await calls.dispatch(call, { by, override });
        const let_pass = dispatched.gate?.overridden ?? null;
        if (let_pass !== null)
          log.warn({ call_id: call.id, by: let_pass.by, codes: let_pass.codes }, 'call.gate_overridden');
        failpoint('accepted_before_answer');
        return { body: callView(dispatched) };
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'carrier_error') throw error;
        const { carrierCode } = error;
        throw new AppError('carrier_error', `${error.message} The call is kept as failed: ${call.id}.`, {
          cause: error,
          retryable: error.retryable,
          ...(carrierCode === undefined ? {} : { carrierCode }),
        });
      }
    },
  }),

  route({
    method: 'get',
    path: '/v1/calls',
    operation: 'listCalls',
    errors: ['invalid_number'],
    summary: 'List calls, inbound and outbound, newest first, as a bare array',
    status: 200,
    query: queries.listCalls,
    answer: schemas.callList,
    async run({ store, orgId, query, url, monotonicMs }) {
      if (query.search !== undefined)
        checkOwnLimit(searches, orgId, monotonicMs(), `More than ${SEARCHES_PER_SECOND} searches a second`);
      const filters = filtersOf(query);
      return page({
        query,
        url,
        exists: (id) => store.getCall(orgId, id),
        list: (at) => store.listCalls(orgId, filters, at),
        body: (records) => records.map(callView),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/calls.csv',
    operation: 'exportCalls',
    errors: ['invalid_number', 'at_capacity'],
    summary: 'Export calls as CSV, newest first: all that fit the filters',
    description:
      'RFC 4180 in UTF-8 with a line of names. It is made while it is read, so that any number of calls can be had. A cell that a spreadsheet would take for a formula begins with an apostrophe; telephone numbers stay as they are. So many are made at once: one more waits for some seconds, and is then refused with `at_capacity`.',
    status: 200,
    query: queries.exportCalls,
    answer: null,
    media: 'text/csv',
    async run({ store, orgId, query, now, monotonicMs }, res) {
      if (query.search !== undefined)
        checkOwnLimit(searches, orgId, monotonicMs(), `More than ${SEARCHES_PER_SECOND} searches a second`);
      const agent = query.agent_id === undefined ? null : await store.getAgent(orgId, query.agent_id);
      const columns = callColumns(query.columns, agent?.returns ?? null);
      await sendCsv(res, {
        of: orgId,
        name: `calls-${now().toISOString().slice(0, 10)}.csv`,
        header: columns.map(({ name }) => name),
        pages: callRows(store, { orgId, filters: filtersOf(query), columns }),
        forSpreadsheet: query.bom === 'true',
      });
      return null;
    },
  }),

  route({
    method: 'get',
    path: '/v1/calls/:id',
    operation: 'getCall',
    summary: 'Read a call',
    status: 200,
    answer: schemas.call,
    async run({ store, orgId, params }) {
      return { body: callView(found(await store.getCall(orgId, params.id), NO_CALL)) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/calls/:id/transcript',
    operation: 'getTranscript',
    summary: 'Read what was said on a call, in speech order',
    description: 'Can be read while the call lasts.',
    status: 200,
    answer: schemas.transcript,
    async run({ store, calls, now, orgId, params }) {
      // Asked before the words are read: `final` then never comes without the last of them.
      const call = found(await store.getCall(orgId, params.id), NO_CALL);
      const final = await isFinal(call, { calls, store, now });
      const items = await store.listTranscript(call.id);
      return {
        body: {
          call_id: call.id,
          status: final ? 'final' : 'live',
          data: items.map((item) => ({
            id: item.id,
            role: item.role,
            text: item.text,
            heard_text: item.heard_text,
            interrupted: item.interrupted,
            started_at: item.started_at,
            start_ms: item.start_ms,
            end_ms: item.end_ms,
          })),
        },
      };
    },
  }),

  route({
    method: 'post',
    path: '/v1/calls/:id/cancel',
    operation: 'cancelCall',
    errors: ['call_ended', 'conflict', 'call_elsewhere'],
    summary: 'End a call before it is answered',
    description: 'Refused with `conflict` once it was answered, and with `call_ended` once it has ended.',
    status: 200,
    answer: schemas.call,
    async run({ calls, store, orgId, params }) {
      found(await store.getCall(orgId, params.id), NO_CALL);
      return { body: callView(await calls.cancel(orgId, params.id)) };
    },
  }),

  route({
    method: 'post',
    path: '/v1/calls/:id/hangup',
    operation: 'hangUpCall',
    errors: ['call_ended', 'conflict', 'call_elsewhere'],
    summary: 'End a live call',
    description:
      'Also one that is not answered yet: then it ends as canceled. Refused with `call_ended` once it has ended.',
    status: 200,
    answer: schemas.call,
    async run({ calls, store, orgId, params }) {
      found(await store.getCall(orgId, params.id), NO_CALL);
      return { body: callView(await calls.hangUp(orgId, params.id)) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/calls/:id/recording',
    operation: 'getRecording',
    needs: 'listen',
    errors: ['conflict', 'at_capacity'],
    summary: 'Download the recording of an ended call as WAV, whole or in ranges, or converted',
    description:
      'As it is kept (stereo, 8 kHz, 16 bit) it can be had in ranges; converted by `channels` or `rate` it is made while it is sent, and always whole. So many are converted at once: one more waits for some seconds, and is then refused with `at_capacity`.',
    status: 200,
    query: queries.recordingShape,
    answer: null,
    media: 'audio/wav',
    ranges: true,
    async run({ store, calls, config, now, orgId, params, query, openRecording }, res) {
      const call = found(await store.getCall(orgId, params.id), NO_CALL);
      const file = found(
        call.recording_path,
        'This call has no recording; calls are recorded while RECORD_CALLS is on.',
      );
      if (!(await isFinal(call, { calls, store, now }))) {
        throw new AppError('conflict', 'The call is live; its recording can be had once it has ended.');
      }
      await sendRecording(res, {
        orgId,
        kept: { root: path.resolve(config.DATA_DIR), file, name: `${call.id}.wav` },
        shape: { channels: query.channels, rateHz: query.rate === '16000' ? 16000 : 8000 },
        open: openRecording,
      });
      return null;
    },
  }),
];
