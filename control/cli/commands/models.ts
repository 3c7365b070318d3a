// offhook models: the speech models that agents may have.
import type { Command } from 'commander';
import type { Run } from '../context.ts';

export function addModelCommands(program: Command, run: Run): void {
  program
    .command('models')
    .description('the speech models that agents may have')
    .action(
      run(async ({ offhook, output }) => {
        const items = await offhook.models.list();
        if (output.json) return output.data(items);
        output.table(
          ['name', 'default', 'kind', "its server's name", 'sound', 'voices'],
          items.map((model) => [
            output.paint('bold', model.name),
            model.is_default ? 'yes' : '',
            model.kind,
            model.model,
            model.audio_formats
              .map(({ encoding, rate_hz }) => `${encoding} ${rate_hz / 1000} kHz`)
              .join(', '),
            model.voices.join(', '),
          ]),
          'There is no speech model.',
        );
      }),
    );
}
