// offhook listen: events as they happen, shown, and handed on to a local program as the webhooks they are. The daemon
// needs no way to this machine: events are followed, signed here with a secret of this session, and posted from here.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { type Event, sign } from '../../sdk/index.ts';
import type { Run } from '../context.ts';
import { type Context, collect } from '../context.ts';
import { Ending, EXIT, UsageError } from '../exit.ts';
import { duration } from '../output.ts';

const POST_MS = 15_000;

function told({ output }: Context, event: Event, answer: string): void {
  const { call } = event;
  const style =
    event.type === 'call.completed'
      ? 'green'
      : /failed|no_answer|busy|canceled/.test(event.type)
        ? 'yellow'
        : 'cyan';
  const at = new Date(event.created_at).toLocaleTimeString('en-GB');
  const other = call.direction === 'inbound' ? `from ${call.from_number}` : `to ${call.to_number}`;
  const length = call.duration_seconds === null ? '' : `, ${duration(call.duration_seconds)}`;
  output.line(
    `${output.paint('dim', at)}  ${output.paint(style, event.type.padEnd(15))}  ${other}${length}  ${output.paint('dim', call.id)}${answer === '' ? '' : `  ${answer}`}`,
  );
}

async function forward(context: Context, event: Event, to: string, secret: string): Promise<string> {
  const { output } = context;
  const { headers, body } = await sign({ ...event, sentAt: context.now() }, secret);
  const begun = performance.now();
  try {
    const response = await fetch(to, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([context.signal, AbortSignal.timeout(POST_MS)]),
    });
    await response.arrayBuffer();
    const ms = Math.round(performance.now() - begun);
    return output.paint(response.ok ? 'green' : 'red', `${response.status} in ${ms} ms`);
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code;
    return output.paint('red', `not delivered: ${cause ?? (error as Error).message}`);
  }
}

export function addListenCommand(program: Command, run: Run): void {
  program
    .command('listen')
    .description('show events as they happen, and bring them to a local program as signed webhooks')
    .option('--forward-to <url>', 'where to post them, such as http://localhost:3000/offhook')
    .option('--event <type>', 'only these; may be given again', collect)
    .option('--secret <secret>', 'what signs them (whsec_…; default: made now and shown)')
    .option('--after <event id>', 'begin after this event, instead of now')
    .action(
      run(async (context, o: { forwardTo?: string; event?: string[]; secret?: string; after?: string }) => {
        const { offhook, output, signal, url } = context;
        if (o.forwardTo !== undefined && !URL.canParse(o.forwardTo)) {
          throw new UsageError(
            `--forward-to: "${o.forwardTo}" is not a URL, such as http://localhost:3000/offhook.`,
          );
        }
        if (o.secret !== undefined && !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(o.secret)) {
          throw new UsageError('--secret must be whsec_ and base64, as the daemon shows it.');
        }
        const secret = o.secret ?? `whsec_${randomBytes(32).toString('base64')}`;
        output.note(
          `Listening to ${url}${o.forwardTo === undefined ? '' : `, posting to ${o.forwardTo}`}. Ctrl-C ends it.`,
        );
        if (o.forwardTo !== undefined && o.secret === undefined) {
          output.note(`Your program verifies them with the secret ${secret}`);
        }
        const wanted = o.event === undefined ? null : new Set(o.event);
        try {
          for await (const event of offhook.events.follow({
            signal,
            ...(o.after === undefined ? {} : { after: o.after }),
            // A daemon that restarts is waited for.
            maxRetries: 20,
          })) {
            if (wanted !== null && !wanted.has(event.type)) continue;
            const answer =
              o.forwardTo === undefined ? '' : await forward(context, event, o.forwardTo, secret);
            if (output.json) output.line(JSON.stringify(event));
            else told(context, event, answer);
          }
        } catch (error) {
          if (signal.aborted) throw new Ending(EXIT.ok);
          throw error;
        }
      }),
    );
}
