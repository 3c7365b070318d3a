// `node main.js reset-password [--organization NAME]`: prints a new link, whether the daemon runs or not.
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../../config.ts';
import { findOrganizationIn } from '../../storage/sqlite/host-commands.ts';
import { dashboardUrl, makePasswordLink, passwordUrl } from '../http/password-link.ts';

/** The link of the first start is good until it is used or the daemon starts again. */
const RESET_MINUTES = 60;

/** @returns the exit code */
export function resetPassword(env: Record<string, string | undefined>, args: readonly string[] = []): number {
  const config = readConfig(env);
  const dataDir = resolve(config.DATA_DIR);
  const { organization } = parseArgs({
    args: [...args],
    options: { organization: { type: 'string' } },
  }).values;
  const path = join(dataDir, 'offhook.db');
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
    console.error(
      `offhook: ${dataDir} holds no database: set DATA_DIR as the daemon has it, or start the daemon, which prints a link by itself.`,
    );
    return 1;
  }
  let orgId: string | null = null;
  if (organization !== undefined) {
    const found = findOrganizationIn(path, organization);
    if (found === null) {
      console.error(
        `offhook: ${path} has no organization of that name or id; "offhook organizations list" shows them.`,
      );
      return 1;
    }
    orgId = found.isFirst ? null : found.id;
  }
  const token = makePasswordLink(dataDir, new Date(Date.now() + RESET_MINUTES * 60_000), orgId);
  console.log(
    `\nSet a new password here, once, within ${RESET_MINUTES} minutes, while the daemon runs:\n\n  ${passwordUrl(dashboardUrl(config), token)}\n\nIt is for the first owner of the organization, whose second factor is taken away by it, and who is signed out everywhere.\n`,
  );
  return 0;
}
