// What a page is told of who is signed in, and what the sign-in page has to ask for.
import type { Response } from 'express';
import type { UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import { permissionsOf } from '../http/actor.ts';
import type { SignedIn } from './sessions.ts';

export interface StateParts {
  store: Pick<Store, 'getOrganization' | 'listOrganizations' | 'hasUsers' | 'hasEmails'>;
  version: string;
  /** Who signs people in beside the passwords, for the button; null: nobody. */
  oidc: { name: string } | null;
}

function userView({ id, name, email, role, may_listen }: UserRecord) {
  return { id, name, email, role, may: [...permissionsOf({ role, may_listen })] };
}

/** Answers who is signed in; null: nobody is. */
export async function answerState(o: StateParts, res: Response, session: SignedIn | null): Promise<void> {
  const { store, version } = o;
  if (session === null) {
    // Whether a name is to be asked for; never the names.
    const several = (await store.listOrganizations({ limit: 2 })).length > 1;
    const state = (await store.hasUsers()) ? 'signed_out' : 'setup';
    const oidc = o.oidc === null ? null : o.oidc.name;
    res.json({ state, several, by_email: await store.hasEmails(), oidc, version });
    return;
  }
  const organization = await store.getOrganization(session.orgId);
  res.json({
    state: 'signed_in',
    csrf_token: session.csrfToken,
    organization: { id: session.orgId, name: organization?.name ?? '' },
    user: userView(session.user),
    version,
  });
}
