// offhook login, logout, profiles, use, balance, openapi: who one is, where, and with how much credit.
import type { Command } from 'commander';
import { Offhook } from '../../sdk/index.ts';
import { askHidden } from '../asking.ts';
import type { Run } from '../context.ts';
import { type Context, wholeNumber } from '../context.ts';
import { UsageError } from '../exit.ts';
import { money } from '../output.ts';
import { DEFAULT_URL, readProfiles, writeProfiles } from '../profiles.ts';

function showBalance(
  { output }: Context,
  balance: { balance_milli_cents: number | null; held_milli_cents: number },
) {
  if (output.json) {
    output.data(balance);
    return;
  }
  output.facts([
    ['credit', balance.balance_milli_cents === null ? 'without limit' : money(balance.balance_milli_cents)],
    ['held by live calls', money(balance.held_milli_cents)],
  ]);
}

export function addAccountCommands(program: Command, run: Run): void {
  addProfileCommands(program, run);
  addBalanceCommands(program, run);
  addOrganizationCommands(program, run);
  addReferenceCommand(program, run);
}

/** Which daemon, and with which key. */
function addProfileCommands(program: Command, run: Run): void {
  program
    .command('login')
    .description(
      'keep the address and key of a daemon as a profile (the key is asked for, or read from stdin)',
    )
    .option('--name <profile>', 'its name', 'default')
    .action(
      run(async (context, o: { name: string }) => {
        const { output, env, signal } = context;
        const flags = program.opts<{ url?: string; apiKey?: string; profile?: string }>();
        const url = (flags.url ?? env.OFFHOOK_URL ?? DEFAULT_URL).replace(/\/+$/, '');
        const name = flags.profile ?? o.name;
        if (!URL.canParse(url))
          throw new UsageError(`"${url}" is not a URL, such as https://calls.example.com.`);
        const apiKey =
          flags.apiKey ?? env.OFFHOOK_API_KEY ?? (await askHidden(`API key of ${url} (sk_…)`, signal));
        if (apiKey === '')
          throw new UsageError('No key was given. The first one is printed at the daemon’s first start.');
        // What is kept is known to work.
        await new Offhook({ apiKey, baseUrl: url }).balance.get({ signal });
        const kept = readProfiles(env);
        kept.profiles[name] = { url, api_key: apiKey };
        kept.current = name;
        const path = writeProfiles(env, kept);
        if (output.json) output.data({ profile: name, url });
        else output.line(`Profile ${output.paint('bold', name)} speaks to ${url} (kept in ${path}).`);
      }),
    );

  program
    .command('logout [profile]')
    .description('forget a profile and its key')
    .action(
      run(async ({ output, env }, _o, given: string | undefined) => {
        const kept = readProfiles(env);
        const name = given ?? kept.current;
        if (kept.profiles[name] === undefined) throw new UsageError(`There is no profile "${name}".`);
        delete kept.profiles[name];
        if (kept.current === name) kept.current = Object.keys(kept.profiles)[0] ?? 'default';
        writeProfiles(env, kept);
        if (output.json) output.data({ forgotten: name });
        else output.line(`Forgotten. The key itself still works until it is revoked in the dashboard.`);
      }),
    );

  program
    .command('profiles')
    .description('the daemons you have logged in to')
    .action(
      run(async ({ output, env }) => {
        const { current, profiles } = readProfiles(env);
        const list = Object.entries(profiles).map(([name, { url }]) => ({
          name,
          url,
          current: name === current,
        }));
        if (output.json) return output.data(list);
        output.table(
          ['', 'profile', 'daemon'],
          list.map((one) => [one.current ? output.paint('green', '*') : ' ', one.name, one.url]),
          'No profiles yet: offhook login --url https://calls.example.com',
        );
      }),
    );

  program
    .command('use <profile>')
    .description('the profile that commands speak to from now on')
    .action(
      run(async ({ output, env }, _o, name) => {
        const kept = readProfiles(env);
        const profile = kept.profiles[name];
        if (profile === undefined) throw new UsageError(`There is no profile "${name}".`);
        writeProfiles(env, { ...kept, current: name });
        if (output.json) output.data({ profile: name, url: profile.url });
        else output.line(`Commands speak to ${profile.url} now.`);
      }),
    );
}

/** What may still be spent. */
function addBalanceCommands(program: Command, run: Run): void {
  const balance = program.command('balance').description('what may still be spent');
  balance
    .command('get', { isDefault: true })
    .description('credit, and what live calls hold')
    .action(run(async (context) => showBalance(context, await context.offhook.balance.get())));
  balance
    .command('set <milliCents>')
    .description('set it in thousandths of a cent, or lift the limit with "unlimited"')
    .option('--operator-key <key>', 'else OPERATOR_KEY of the environment')
    .action(
      run(async (context, o: { operatorKey?: string }, given) =>
        showBalance(
          context,
          await context.offhook.balance.set(
            { balance_milli_cents: given === 'unlimited' ? null : wholeNumber(given) },
            operatorKey(o, context),
          ),
        ),
      ),
    );
  balance
    .command('add <milliCents>')
    .description('add to it, or take from it with a negative amount (after --)')
    .option('--operator-key <key>', 'else OPERATOR_KEY of the environment')
    .action(
      run(async (context, o: { operatorKey?: string }, given) =>
        showBalance(
          context,
          await context.offhook.balance.addCredit(
            { amount_milli_cents: wholeNumber(given) },
            operatorKey(o, context),
          ),
        ),
      ),
    );
}

/** The operator's organizations. */
function addOrganizationCommands(program: Command, run: Run): void {
  const organizations = program
    .command('organizations')
    .description('who shares the daemon, each apart from all others (for its operator)');
  organizations
    .command('create <name>')
    .description('make another one; prints its first API key and the link to its dashboard, this once')
    .option('--operator-key <key>', 'else OPERATOR_KEY of the environment')
    .action(
      run(async (context, o: { operatorKey?: string }, name) => {
        const { output, offhook } = context;
        const made = await offhook.organizations.create({ name }, operatorKey(o, context));
        if (output.json) return output.data(made);
        output.facts([
          ['organization', `${made.name} (${made.id})`],
          ['API key, shown this once', made.api_key],
          ['sets its dashboard’s password', made.password_url],
        ]);
      }),
    );
  organizations
    .command('list', { isDefault: true })
    .description('all of them, newest first')
    .option('--operator-key <key>', 'else OPERATOR_KEY of the environment')
    .action(
      run(async (context, o: { operatorKey?: string }) => {
        const { output, offhook } = context;
        const all = await offhook.organizations.list({ limit: 100 }, operatorKey(o, context)).all();
        if (output.json) return output.data(all);
        output.table(
          ['organization', 'id', 'made'],
          all.map((one) => [one.name, one.id, one.created_at]),
          'There is none.',
        );
      }),
    );
}

/** The OpenAPI document. */
function addReferenceCommand(program: Command, run: Run): void {
  program
    .command('openapi')
    .description('the OpenAPI document of the daemon')
    .action(run(async ({ offhook, output }) => output.data(await offhook.openApi())));
}

function operatorKey(o: { operatorKey?: string }, { env }: Context): string {
  const key = o.operatorKey ?? env.OPERATOR_KEY;
  if (key !== undefined) return key;
  throw new UsageError('This takes the operator’s key: --operator-key, or OPERATOR_KEY.');
}
