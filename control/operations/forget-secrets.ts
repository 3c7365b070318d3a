// `node main.js forget-secrets`, for the day on which the key of the stored secrets is lost: what nobody can open any more is
// dropped and made anew, so that the daemon starts again. Everything else stays.
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readConfig } from '../../config.ts';
import { forgetSecretsIn } from '../../storage/sqlite/host-commands.ts';
import { newWebhookSecret } from '../webhooks/signature.ts';

/**
 * @param args `--yes`, or it is only said what would happen
 * @returns the exit code
 * @throws StorageError, as when a daemon runs on the folder
 */
export function forgetSecretsCommand(
  env: Record<string, string | undefined>,
  args: readonly string[],
): number {
  const config = readConfig(env);
  const path = join(resolve(config.DATA_DIR), 'offhook.db');
  const bytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (bytes === undefined) {
    console.error(`offhook: there is no ${path}: set DATA_DIR as the daemon has it.`);
    return 1;
  }
  if (!args.includes('--yes')) {
    console.error(
      `offhook: this gives every webhook endpoint and organization in ${path} a new secret, so that receivers refuse what is sent until they have it, takes the headers of all tools away, and second factors with them. Do it only when the key is lost for good, after a backup: add --yes (npm run forget-secrets -- --yes).`,
    );
    return 2;
  }
  const done = forgetSecretsIn({
    path,
    secretKeys: config.SECRET_KEY,
    newSecret: newWebhookSecret,
    onBegin: () =>
      console.log(
        `Sealing ${path} anew, then writing its ${Math.ceil(bytes / 1e6)} MB anew so that nothing of before stays readable: a few minutes where it is large.`,
      ),
  });
  console.log(
    `\nSealed anew under key ${done.key}.\n\nNew secrets: ${done.organizations} organizations, ${done.endpoints} webhook endpoints. Nobody has seen them: rotate each (POST /v1/webhook_secret/rotate, POST /v1/webhook_endpoints/{id}/rotate_secret, or in the dashboard) and give them to their receivers.`,
  );
  for (const agent of done.agents) {
    console.log(
      `Headers to be entered again: agent ${agent.name} (${agent.id}), ${agent.headers.join(', ')}`,
    );
  }
  if (done.users > 0) {
    console.log(
      `Second factors that are gone: ${done.users}. These people sign in by password alone until they set one up again.`,
    );
  }
  return 0;
}
