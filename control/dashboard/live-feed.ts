// Calls that are on now, as the live view shows them, and what happens on them, told to whoever follows an organization.
// Fed by the bridge's observer; knows nothing of HTTP.
import type { CallObserver } from '../../bridge/calls/call-observers.ts';
import type { Log } from '../../log.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { interruptionView, turnView } from '../../storage/turn-view.ts';
import type { LiveCall, LiveEvents } from './app/session-shapes.ts';

/** Of the transcript, in what a new follower is shown of a call. */
const LAST_WORDS = 8;

/** Hears each event once, as it happens. */
export type Hear = <E extends keyof LiveEvents>(event: E, data: LiveEvents[E]) => void;

export interface LiveFeed {
  /** To be told by the bridge. */
  observer: CallObserver;
  /** The organization's calls now, the oldest first. */
  calls(orgId: string): LiveCall[];
  /** Whether anybody follows the organization. */
  isWatched(orgId: string): boolean;
  /** @returns what ends the following */
  follow(orgId: string, hear: Hear): () => void;
}

interface Entry {
  orgId: string;
  call: LiveCall;
}

function fieldsOf(record: CallRecord) {
  const { id, status, direction, from_number, to_number, agent_id, created_at, answered_at } = record;
  const { hangup_cause, error_code, gaps } = record;
  return {
    id,
    status,
    direction,
    from_number,
    to_number,
    agent_id,
    created_at,
    answered_at,
    hangup_cause,
    error_code,
    gaps,
  };
}

/** The name of what is tried before it is saved. A telephone call's metadata are its caller's, and say nothing. */
function draftName({ telephone, metadata }: CallRecord): string | null {
  return !telephone && typeof metadata.draft === 'string' ? metadata.draft : null;
}

/** An empty feed: a daemon that starts has no live calls. */
export function openLiveFeed(o: { store: Pick<Store, 'getAgent'>; log: Pick<Log, 'warn'> }): LiveFeed {
  const live = new Map<string, Entry>();
  const followers = new Map<string, Set<Hear>>();

  function tell<E extends keyof LiveEvents>(orgId: string, event: E, data: LiveEvents[E]): void {
    for (const hear of followers.get(orgId) ?? []) hear(event, data);
  }

  async function begin(record: CallRecord): Promise<void> {
    const call: LiveCall = {
      ...fieldsOf(record),
      // A draft is nobody's agent yet, or one with changes: it is called by the name that it is tried under.
      agent_name: draftName(record),
      floor: null,
      last_latency_ms: null,
      words: [],
      source: record.telephone ? 'phone' : 'browser',
    };
    live.set(record.id, { orgId: record.org_id, call });
    tell(record.org_id, 'call', call);
    if (record.agent_id === null || call.agent_name !== null) return;
    const agent = await o.store.getAgent(record.org_id, record.agent_id);
    call.agent_name = agent?.name ?? null;
    if (live.get(record.id)?.call === call) tell(record.org_id, 'call', call);
  }

  return {
    observer: {
      changed(record) {
        const entry = live.get(record.id);
        if (entry === undefined) {
          begin(record).catch((error: unknown) => {
            o.log.warn({ call_id: record.id, err: error }, 'live.agent_unknown');
          });
          return;
        }
        Object.assign(entry.call, fieldsOf(record));
        tell(entry.orgId, 'call', entry.call);
      },
      floor(callId, floor, atMs) {
        const entry = live.get(callId);
        if (entry === undefined) return;
        entry.call.floor = floor === 'none' ? 'nobody' : floor;
        tell(entry.orgId, 'floor', { call_id: callId, floor: entry.call.floor, at_ms: Math.round(atMs) });
      },
      words(callId, items) {
        const entry = live.get(callId);
        if (entry === undefined) return;
        const { call } = entry;
        for (const { call_id: _call, ...item } of items) {
          const at = call.words.findIndex((known) => known.id === item.id);
          if (at < 0) call.words.push(item);
          else call.words[at] = item;
          tell(entry.orgId, 'words', { call_id: callId, item });
        }
        // In speech order, whatever order the words became known in.
        call.words.sort((a, b) => a.start_ms - b.start_ms);
        call.words.splice(0, call.words.length - LAST_WORDS);
      },
      turn(record) {
        const entry = live.get(record.call_id);
        if (entry === undefined) return;
        const turn = turnView(record);
        if (turn.latency_ms !== null) entry.call.last_latency_ms = turn.latency_ms;
        tell(entry.orgId, 'turn', { call_id: record.call_id, turn });
      },
      interruption(record) {
        const entry = live.get(record.call_id);
        if (entry === undefined) return;
        const interruption = interruptionView(record);
        tell(entry.orgId, 'interruption', { call_id: record.call_id, interruption });
      },
      ended(record) {
        const entry = live.get(record.id);
        if (entry === undefined) return;
        live.delete(record.id);
        Object.assign(entry.call, fieldsOf(record));
        tell(entry.orgId, 'ended', { call: entry.call });
      },
    },
    calls: (orgId) => [...live.values()].filter((entry) => entry.orgId === orgId).map(({ call }) => call),
    isWatched: (orgId) => followers.has(orgId),
    follow(orgId, hear) {
      const hearing = followers.get(orgId) ?? new Set();
      followers.set(orgId, hearing);
      hearing.add(hear);
      return () => {
        hearing.delete(hear);
        if (hearing.size === 0 && followers.get(orgId) === hearing) followers.delete(orgId);
      };
    },
  };
}
