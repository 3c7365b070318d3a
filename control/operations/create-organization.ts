// `node main.js create-organization NAME`: another organization on this host, whether the daemon runs or not.
import { join, resolve } from 'node:path';
import { ConfigError, readConfig } from '../../config.ts';
import { openBeside } from '../../storage/sqlite/host-commands.ts';
import { LINK_DAYS, makeOrganization, organizationName } from '../api/organizations.ts';
import { dashboardUrl } from '../http/password-link.ts';

/**
 * @returns the exit code
 * @throws StorageError, AppError when the name is taken
 */
export async function createOrganization(
  env: Record<string, string | undefined>,
  args: readonly string[],
): Promise<number> {
  const config = readConfig(env);
  const name = organizationName.safeParse(args.join(' '));
  if (!name.success) {
    throw new ConfigError(
      `the name ${name.error.issues[0]?.message}: npm run create-organization -- "Harbour Clinic"`,
    );
  }
  const dataDir = resolve(config.DATA_DIR);
  const now = () => new Date();
  const { store, close } = openBeside({
    path: join(dataDir, 'offhook.db'),
    secretKeys: config.SECRET_KEY,
    now,
  });
  try {
    const made = await makeOrganization({
      store,
      name: name.data,
      dataDir,
      url: dashboardUrl(config),
      now: now(),
    });
    console.log(
      `\n${made.name} (${made.id})\n\nIts API key, shown only this once:\n\n  ${made.api_key}\n\nThe password of its dashboard is set here, once, within ${LINK_DAYS} days, while the daemon runs:\n\n  ${made.password_url}\n`,
    );
    return 0;
  } finally {
    close();
  }
}
