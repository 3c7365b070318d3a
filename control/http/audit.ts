// The audit log's rows: who did what to what. A route that changes something has one by itself (route.ts); signing in and what
// else people do without a route say theirs.
import { v7 as uuidv7 } from 'uuid';
import type { Log } from '../../log.ts';
import type { ActionRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import type { Actor } from './actor.ts';

export interface Noted {
  orgId: string;
  /** Null: nobody who is known, or the host. */
  actor: Pick<Actor, 'kind' | 'id' | 'name'> | { kind: 'nobody' | 'host'; id: null; name: string };
  action: string;
  target?: { kind: string; id: string | null } | undefined;
  /** Small, and never what was said, sent or kept secret. */
  detail?: Record<string, unknown> | undefined;
  address: string | null;
  requestId: string | null;
}

/**
 * Writes a row down; what the disk does not take is kept, and written later. Never rejects: what was done has happened.
 * @param o.patient nobody waits for it
 */
export async function noteAction(
  parts: { store: Pick<Store, 'noteAction'>; log: Pick<Log, 'warn'>; now: () => Date },
  noted: Noted,
  o: { patient?: boolean } = {},
): Promise<void> {
  const record: ActionRecord = {
    id: uuidv7(),
    org_id: noted.orgId,
    created_at: parts.now().toISOString(),
    actor_kind: noted.actor.kind,
    actor_id: noted.actor.id,
    actor_name: noted.actor.name,
    action: noted.action,
    target_kind: noted.target?.kind ?? null,
    target_id: noted.target?.id ?? null,
    detail: noted.detail ?? null,
    address: noted.address,
    request_id: noted.requestId,
  };
  await parts.store.noteAction(record, o).catch((error: unknown) => {
    parts.log.warn({ err: error, org_id: noted.orgId, action: noted.action }, 'audit.not_written');
  });
}

/** What a path of the API is about: `/v1/webhook_deliveries/:id/redeliver` a webhook_delivery. */
export function targetKind(path: string): string {
  const segment = path.replace(/^\/(v1|dashboard\/api)\//, '').split('/')[0] ?? '';
  if (segment === 'people' || segment === 'account') return 'user';
  return segment.replace(/ies$/, 'y').replace(/s$/, '');
}
