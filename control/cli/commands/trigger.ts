// offhook trigger: one webhook as the daemon would send it, posted to a program that is being written. Nothing happens in the daemon.
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { type Call, type Offhook, sign } from '../../sdk/index.ts';
import { type Context, type Run, wholeNumber } from '../context.ts';
import { Ending, EXIT, UsageError } from '../exit.ts';

const POST_MS = 15_000;

/** What a call has not, or has not yet, at an event. */
const NOT_ANSWERED = { answered_at: null, duration_seconds: null, billed_duration_seconds: null };
const NO_RESULT = {
  result: null,
  result_status: 'pending',
  result_error: null,
  summary: null,
  sentiment: null,
};
const LIVE = { ended_at: null, hangup_cause: null, cost: null, error_code: null, error_message: null };
const FAILED = { ...NO_RESULT, result_status: 'failed', result_error: 'The call was not answered.' } as const;

/** By event: how the call stands then. */
const AT: Readonly<Record<string, Partial<Call>>> = {
  'call.queued': {
    status: 'queued',
    ...NOT_ANSWERED,
    ...NO_RESULT,
    ...LIVE,
    started_at: null,
  } as Partial<Call>,
  'call.ringing': { status: 'ringing', ...NOT_ANSWERED, ...NO_RESULT, ...LIVE } as Partial<Call>,
  'call.answered': { status: 'in_progress', ...NO_RESULT, ...LIVE, duration_seconds: null } as Partial<Call>,
  'call.completed': { status: 'completed' },
  'call.failed': {
    status: 'failed',
    ...FAILED,
    ...NOT_ANSWERED,
    error_code: '13224',
    error_message: 'The number cannot be reached.',
    hangup_cause: 'carrier_error',
  },
  'call.no_answer': { status: 'no_answer', ...FAILED, ...NOT_ANSWERED, hangup_cause: 'no_answer' },
  'call.busy': { status: 'busy', ...FAILED, ...NOT_ANSWERED, hangup_cause: 'busy' },
  'call.canceled': { status: 'canceled', ...FAILED, ...NOT_ANSWERED, hangup_cause: 'canceled' },
};
const EVENTS = Object.keys(AT);

/** The call of the reference: a whole one, with nothing of anybody's. */
async function exampleCall(offhook: Offhook): Promise<Call> {
  const document = (await offhook.openApi()) as unknown as {
    components: { schemas: { Call: { examples?: Call[] } } };
  };
  const [call] = document.components.schemas.Call.examples ?? [];
  if (call === undefined)
    throw new UsageError('The reference of this daemon has no example of a call: name one with --call.');
  return call;
}

interface Flags {
  to: string;
  secret?: string;
  call?: string;
  attempt?: number;
  replay?: boolean;
}

async function trigger(context: Context, o: Flags, type: string): Promise<void> {
  const { offhook, output, signal } = context;
  const at = AT[type];
  if (at === undefined) throw new UsageError(`There is no event "${type}", only ${EVENTS.join(', ')}.`);
  if (!URL.canParse(o.to))
    throw new UsageError(`--to: "${o.to}" is not a URL, such as http://localhost:3000/offhook.`);
  const call =
    o.call === undefined
      ? { ...(await exampleCall(offhook)), ...at }
      : await offhook.calls.get(o.call, { signal });
  const secret = o.secret ?? `whsec_${randomBytes(32).toString('base64')}`;
  const { headers, body } = await sign(
    {
      type,
      call,
      sequence: EVENTS.indexOf(type) + 1,
      attempt: o.attempt,
      replay: o.replay,
      sentAt: context.now(),
    },
    secret,
  );
  if (o.secret === undefined)
    output.note(`Signed with ${secret}, made for this one: --secret takes your own.`);
  let response: Response;
  try {
    response = await fetch(o.to, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(POST_MS)]),
    });
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code;
    throw new Ending(EXIT.failed, `Nothing answered at ${o.to}: ${cause ?? (error as Error).message}`);
  }
  const answer = (await response.text()).slice(0, 2_000);
  if (output.json)
    output.line(JSON.stringify({ type, status: response.status, answer, webhook_id: headers['webhook-id'] }));
  else
    output.line(
      `${output.paint(response.ok ? 'green' : 'red', String(response.status))}  ${type}${answer === '' ? '' : `  ${answer}`}`,
    );
  if (!response.ok) throw new Ending(EXIT.failed);
}

export function addTriggerCommand(program: Command, run: Run): void {
  program
    .command('trigger <event>')
    .description(
      `post one webhook as the daemon would send it, to a program that is being written (${EVENTS.join(', ')})`,
    )
    .requiredOption('--to <url>', 'where to, such as http://localhost:3000/offhook')
    .option('--secret <secret>', 'what signs it (whsec_…; default: made now and shown)')
    .option('--call <id>', 'about this call as it is, instead of the example of the reference')
    .option('--attempt <n>', 'as if sent for the n-th time', wholeNumber)
    .option('--replay', 'as if sent again by hand')
    .action(run((context, o: Flags, type) => trigger(context, o, type ?? '')));
}
