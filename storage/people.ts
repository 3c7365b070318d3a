// What holds for the people of an organization, whatever stores them. PURE.
import type { UserRecord } from './people-records.ts';

const isActiveOwner = (user: Pick<UserRecord, 'role' | 'disabled_at'>) =>
  user.role === 'owner' && user.disabled_at === null;

/** Whether a change of one of these would leave an organization that has an owner without any. */
export function leavesNoOwner(
  users: readonly Pick<UserRecord, 'id' | 'role' | 'disabled_at'>[],
  id: string,
  change: Partial<Pick<UserRecord, 'role' | 'disabled_at'>>,
): boolean {
  const before = users.some(isActiveOwner);
  const after = users.some((user) => isActiveOwner(user.id === id ? { ...user, ...change } : user));
  return before && !after;
}

/** An e-mail address as it is stored and compared. */
export const emailKey = (text: string) => text.trim().normalize('NFC').toLowerCase();
