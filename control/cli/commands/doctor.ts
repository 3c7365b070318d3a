// offhook doctor: looks at everything a real call needs on this host, and says how to mend what is wrong.
import type { Command } from 'commander';
import { missingSettings } from '../../../bridge/setups.ts';
import { ConfigError, readConfig } from '../../../config.ts';
import type { Run } from '../context.ts';
import {
  checkCalls,
  checkCarriers,
  checkDaemon,
  checkDisk,
  checkModel,
  checkPublicUrl,
  checkRedis,
  type Dates,
} from '../doctor/checks.ts';
import { type Finding, fail, judgeClock, ok } from '../doctor/findings.ts';
import { Ending, EXIT } from '../exit.ts';
import { readEnvironment } from '../settings.ts';

const SIGN = { ok: '✓', warn: '!', fail: '✗', skip: '–' } as const;
const STYLE = { ok: 'green', warn: 'yellow', fail: 'red', skip: 'dim' } as const;

export function addDoctorCommand(program: Command, run: Run): void {
  program
    .command('doctor')
    .description(
      'check the daemon on this host: settings, calls, carrier, model, public URL, Redis, disk, clock',
    )
    .option('--env-file <file>', "the daemon's settings, beside the environment (such as .env)")
    .action(
      run(async ({ output, env, now }, o: { envFile?: string }) => {
        const settings = readEnvironment(env, o.envFile);
        const findings: Finding[] = [];
        const tell = (finding: Finding) => {
          findings.push(finding);
          if (output.json) return;
          output.line(
            `${output.paint(STYLE[finding.state], SIGN[finding.state])} ${output.paint('bold', finding.check.padEnd(11))} ${finding.says}`,
          );
          if (finding.mend !== undefined)
            output.line(`  ${' '.repeat(11)} ${output.paint('dim', `→ ${finding.mend}`)}`);
        };
        const end = () => {
          const failed = findings.filter(({ state }) => state === 'fail').length;
          const warned = findings.filter(({ state }) => state === 'warn').length;
          if (output.json) output.data({ ok: failed === 0, findings });
          else {
            output.line();
            output.line(
              failed > 0
                ? output.paint('red', `${failed} to mend${warned > 0 ? `, ${warned} to look at` : ''}.`)
                : warned > 0
                  ? output.paint('yellow', `Nothing is broken; ${warned} to look at.`)
                  : output.paint('green', 'All is well.'),
            );
          }
          if (failed > 0) throw new Ending(EXIT.failed);
        };

        let config: ReturnType<typeof readConfig>;
        try {
          config = readConfig(settings);
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          tell(
            fail(
              'settings',
              error.message,
              'Correct it in the environment or the settings file, and ask again.',
            ),
          );
          return end();
        }
        const missing = missingSettings(config);
        tell(
          missing.length === 0
            ? ok('settings', 'They can be read, and the credentials are there.')
            : fail(
                'settings',
                `Not set: ${missing.join(', ')}.`,
                'Real calls need a carrier and a model. Set them in the environment, or name a file with --env-file.',
              ),
        );
        const dates: Dates = [];
        const daemon = await checkDaemon(config);
        tell(daemon.finding);
        tell(await checkCalls(daemon.provenAt, config.OFFHOOK_API_KEY ?? (env.OFFHOOK_API_KEY || undefined)));
        tell(checkDisk(config));
        tell(await checkRedis(config, settings.PATH ?? ''));
        for (const finding of await checkCarriers(config, dates)) tell(finding);
        for (const finding of await checkModel(config, dates, now())) tell(finding);
        for (const finding of await checkPublicUrl(config, daemon.running)) tell(finding);
        tell(judgeClock(dates));
        end();
      }),
    );
}
