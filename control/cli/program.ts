// The command line put together: global flags, every group of commands, and how a command is run and ends.
import { Command, CommanderError } from 'commander';
import { visible } from '../../terminal-text.ts';
import { Offhook } from '../sdk/index.ts';
import { addAccountCommands } from './commands/account.ts';
import { addAgentCommands } from './commands/agents.ts';
import { addAlertCommands } from './commands/alerts.ts';
import { addAuditCommands } from './commands/audit.ts';
import { addBackupCommands } from './commands/backup.ts';
import { addCallCommands } from './commands/calls.ts';
import { addCampaignCommands } from './commands/campaigns.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addKeptCommands } from './commands/kept.ts';
import { addListenCommand } from './commands/listen.ts';
import { addLogsCommand } from './commands/logs.ts';
import { addModelCommands } from './commands/models.ts';
import { addNumberCommands } from './commands/numbers.ts';
import { addOutboundCommands } from './commands/outbound.ts';
import { addSecretsCommands } from './commands/secrets.ts';
import { addTriggerCommand } from './commands/trigger.ts';
import { addUpgradeCommand } from './commands/upgrade.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { addCompletion } from './completion.ts';
import type { Context, Run } from './context.ts';
import { EXIT, EXIT_HELP, exitCodeOf, explain, UsageError } from './exit.ts';
import { createOutput, type Streams } from './output.ts';
import { chooseDaemon, DEFAULT_URL } from './profiles.ts';

interface Globals {
  url?: string;
  apiKey?: string;
  profile?: string;
  json?: boolean;
  color: boolean;
}

export interface Surroundings extends Streams {
  env: Record<string, string | undefined>;
  version: string;
  signal: AbortSignal;
  now?: () => Date;
}

/** Commands that speak to no daemon, or to one that they are just being told of. */
const LOCAL: ReadonlySet<string> = new Set([
  'login',
  'logout',
  'profiles',
  'use',
  'doctor',
  'backup',
  'restore',
  'secrets',
  'upgrade',
  'completion',
  '__complete',
]);

export function createProgram(o: Surroundings): Command {
  const program = new Command('offhook');
  program
    .description('Your organization’s own AI phone line, from the command line.')
    .version(o.version)
    .option('--url <url>', `address of the daemon (OFFHOOK_URL; default: the profile's, else ${DEFAULT_URL})`)
    .option('--api-key <key>', 'sk_… (OFFHOOK_API_KEY; default: the profile’s)')
    .option('--profile <name>', 'a daemon you have logged in to (OFFHOOK_PROFILE)')
    .option('--json', 'JSON on stdout, for programs')
    .option('--no-color', 'without colours (also NO_COLOR)')
    .addHelpText(
      'after',
      `
Examples:
  offhook login --url https://calls.example.com
  offhook call +14155550123 --agent reminder --context appointment="Tuesday, 10:00" --watch
  offhook listen --forward-to http://localhost:3000/offhook
  offhook doctor

${EXIT_HELP}`,
    )
    .showHelpAfterError('(offhook --help shows how)')
    .configureOutput({
      writeOut: (text) => void o.out.write(visible(text)),
      writeErr: (text) => void o.err.write(visible(text)),
    })
    .exitOverride();

  const run: Run =
    (work) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const own = given.at(-2);
      const globals = command.optsWithGlobals<Globals>();
      const output = createOutput(o, { json: globals.json === true, color: globals.color });
      let root = command;
      while (root.parent !== null && root.parent.parent !== null) root = root.parent;
      const chosen = LOCAL.has(root.name())
        ? { url: globals.url ?? DEFAULT_URL, apiKey: undefined }
        : chooseDaemon(globals, o.env);
      if (!URL.canParse(chosen.url))
        throw new UsageError(`"${chosen.url}" is not a URL, such as https://calls.example.com.`);
      const offhook = new Offhook({
        baseUrl: chosen.url,
        apiKey: chosen.apiKey,
        headers: { 'user-agent': `offhook-cli/${o.version}` },
      });
      const context: Context = {
        output,
        env: o.env,
        url: chosen.url,
        apiKey: chosen.apiKey,
        offhook,
        signal: o.signal,
        now: o.now ?? (() => new Date()),
      };
      await work(context, own as Parameters<typeof work>[1], ...(given.slice(0, -2) as string[]));
    };

  addCallCommands(program, run);
  addAgentCommands(program, run);
  addAuditCommands(program, run);
  addModelCommands(program, run);
  addNumberCommands(program, run);
  addOutboundCommands(program, run);
  addCampaignCommands(program, run);
  addKeptCommands(program, run);
  addWebhookCommands(program, run);
  addAlertCommands(program, run);
  addListenCommand(program, run);
  addTriggerCommand(program, run);
  addLogsCommand(program, run);
  addAccountCommands(program, run);
  addDoctorCommand(program, run);
  addBackupCommands(program, run);
  addSecretsCommands(program, run);
  addUpgradeCommand(program, run);
  addCompletion(program, run);
  return program;
}

/** Runs one command line. Answers its exit code; never throws. */
export async function runCommandLine(args: readonly string[], o: Surroundings): Promise<number> {
  const program = createProgram(o);
  try {
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    // Help and version end this way too, with 0; what is wrong about the usage has been said already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const globals = program.opts<Globals>();
    const exitCode = exitCodeOf(error);
    let url = globals.url ?? DEFAULT_URL;
    try {
      url = chooseDaemon(globals, o.env).url;
    } catch {
      // The error is just that.
    }
    const [first = '', ...more] = explain(error, url).filter((line) => line !== '');
    const told = createOutput({ out: o.err, err: o.err }, { json: false, color: globals.color });
    if (globals.json) {
      const { code, status, param } = error as { code?: string; status?: number; param?: string };
      told.line(JSON.stringify({ error: { message: first, code, status, param }, exit_code: exitCode }));
    } else if (first !== '') {
      told.line(`${exitCode === EXIT.ok ? '' : `${told.paint('red', 'offhook:')} `}${first}`);
      for (const line of more) told.line(told.paint('dim', line));
    }
    return exitCode;
  }
}
