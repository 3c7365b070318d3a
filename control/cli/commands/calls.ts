// `offhook call`, `offhook calls`: place one, list, read and watch them, their words, turns, events and sound, and end one.
import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { AgentCall, Call, CallTurns, Offhook, PromptCall } from '../../sdk/index.ts';
import { hasEnded } from '../../sdk/index.ts';
import type { Run } from '../context.ts';
import { agentId, atLeastOne, type Context, collectPair, objectOf, textOf } from '../context.ts';
import { saveAs } from '../download.ts';
import { UsageError } from '../exit.ts';
import { duration, money, when } from '../output.ts';
import { gapsInWords, withGaps } from './call-gaps.ts';
import { addCallLists } from './call-lists.ts';
import { endAs, gapLine, paintStatus, showEnd, spokenLine, watchCall } from './call-watch.ts';

interface Order {
  override?: string;
  overrideReason?: string;
  agent?: string;
  instructions?: string;
  context?: Record<string, unknown>;
  contextJson?: string;
  metadata?: Record<string, unknown>;
  from?: string;
  webhookUrl?: string;
  returns?: string;
  language?: 'en' | 'es';
  idempotencyKey?: string;
  watch?: boolean;
  wait?: boolean;
}

type CallTurn = CallTurns['data'][number];
type Shape = Required<Pick<NonNullable<Parameters<Offhook['calls']['recording']>[1]>, 'channels' | 'rate'>>;

function show(context: Context, call: Call): void {
  const { output, now } = context;
  if (output.json) {
    output.data(call);
    return;
  }
  output.facts([
    ['id', call.id],
    ['status', `${paintStatus(context, call)}${call.hangup_cause === null ? '' : `, ${call.hangup_cause}`}`],
    ['from', call.from_number],
    ['to', call.to_number],
    ['direction', call.direction],
    ['agent', call.agent_id ?? 'none: placed by a prompt'],
    ['created', when(call.created_at, now())],
    ['answered', when(call.answered_at, now())],
    ['ended', when(call.ended_at, now())],
    ['duration', duration(call.duration_seconds)],
    ['gaps', gapsInWords(call.gaps, call.ended_at !== null)],
    ['price', money(call.billing_amount_milli_cents)],
    ['cost', call.cost === null ? null : `${money(call.cost.total_milli_cents)} (estimate)`],
    ['error', call.error_message === null ? null : `${call.error_message} (${call.error_code})`],
    ['webhook', call.webhook_url === null ? null : `${call.webhook_status} ${call.webhook_url}`],
    [
      'result',
      call.result === null
        ? (call.result_error ?? call.result_status)
        : Object.entries(call.result)
            .map(([name, value]) => `${name}: ${value === null ? 'not said' : String(value)}`)
            .join('\n') || 'nothing asked',
    ],
  ]);
}

/** What is let pass, and why: one without the other is refused here. */
function overrideOf({ override, overrideReason: reason }: Order) {
  if (override === undefined && reason === undefined) return {};
  if (override === undefined || reason === undefined)
    throw new UsageError('--override needs --override-reason, and the other way round.');
  return { override: { codes: override.split(',').map((code) => code.trim()), reason } };
}

async function placeCall(context: Context, to: string, o: Order): Promise<void> {
  const { offhook, output, signal } = context;
  if (o.agent === undefined && o.instructions === undefined) {
    throw new UsageError('Say who calls: --agent <name or id>, or what it is about: --instructions "…".');
  }
  const shared = {
    to,
    ...(o.context === undefined && o.contextJson === undefined
      ? {}
      : {
          context: {
            ...(o.contextJson === undefined ? {} : objectOf(o.contextJson, '--context-json')),
            ...o.context,
          },
        }),
    ...(o.metadata === undefined ? {} : { metadata: o.metadata }),
    ...(o.from === undefined ? {} : { from_number: o.from }),
    ...(o.webhookUrl === undefined ? {} : { webhook_url: o.webhookUrl }),
    ...(o.instructions === undefined ? {} : { instructions: textOf(o.instructions) }),
    ...overrideOf(o),
  };
  const body = (
    o.agent === undefined
      ? {
          ...shared,
          ...(o.returns === undefined ? {} : { returns: objectOf(o.returns, '--returns') }),
          ...(o.language === undefined ? {} : { language: o.language }),
        }
      : { ...shared, agent_id: await agentId(o.agent, context) }
  ) as AgentCall | PromptCall;
  const call = await offhook.calls.create(body, {
    signal,
    ...(o.idempotencyKey === undefined ? {} : { idempotencyKey: o.idempotencyKey }),
  });
  if (!o.watch && !o.wait) {
    if (output.json) return output.data(call);
    output.line(`Calling ${call.to_number} from ${call.from_number}: call ${output.paint('bold', call.id)}`);
    return output.line(output.paint('dim', `offhook calls watch ${call.id}`));
  }
  output.note(`Calling ${call.to_number} from ${call.from_number} (${call.id})`);
  const ended =
    o.watch && !output.json
      ? await watchCall(context, call.id)
      : await offhook.calls.wait(call.id, { signal });
  if (output.json) output.data(ended);
  else if (o.watch) showEnd(context, ended);
  else show(context, ended);
  endAs(ended);
}

export function addCallCommands(program: Command, run: Run): void {
  program
    .command('call <to>')
    .description('place a call now, to a number in E.164 such as +14155550123')
    .option('--agent <agent>', 'which of your agents calls, by name or id')
    .option(
      '--instructions <text>',
      "what it is about (@file): instead of the agent's own, or without an agent",
    )
    .option(
      '--override <codes>',
      'refusals to let pass, with commas between them, such as outside_calling_hours',
    )
    .option('--override-reason <text>', 'why, for the record of the call')
    .option('--context <key=value>', 'what the agent may know; may be given again', collectPair)
    .option('--context-json <json>', 'the same as JSON (@file)')
    .option('--metadata <key=value>', 'kept with the call, for you; may be given again', collectPair)
    .option('--from <number>', 'caller ID, a number of yours')
    .option('--webhook-url <url>', 'where its events are sent')
    .option('--returns <json>', 'without an agent: what to extract')
    .option('--language <code>', 'without an agent: en or es')
    .option('--idempotency-key <key>', 'a repeat with the same key dials nothing')
    .option('--watch', 'show the call as it happens, to its result')
    .option('--wait', 'say nothing until its result is there')
    .action(run(async (context, o: Order, to) => placeCall(context, to, o)));

  const calls = program.command('calls').description('calls, past and live');

  addCallLists(calls, run);
  addCallReading(calls, run);
  addCallDetails(calls, run);
  addRecordingCommand(calls, run);
  addEndCommands(calls, run);
}

/** Calls: read, watch, wait for. */
function addCallReading(calls: Command, run: Run): void {
  calls
    .command('get <id>')
    .description('one call')
    .action(run(async (context, _o, id) => show(context, await context.offhook.calls.get(id))));

  calls
    .command('watch <id>')
    .description('a call as it happens, to its result')
    .action(
      run(async (context, _o, id) => {
        const { output, offhook, signal } = context;
        const call = output.json ? await offhook.calls.wait(id, { signal }) : await watchCall(context, id);
        if (output.json) output.data(call);
        else showEnd(context, call);
        endAs(call);
      }),
    );

  calls
    .command('wait <id>')
    .description('wait for a call and its result')
    .option('--within <seconds>', 'give up after so long; the call goes on', atLeastOne)
    .action(
      run(async (context, o: { within?: number }, id) => {
        const call = await context.offhook.calls.wait(id, {
          signal: context.signal,
          ...(o.within === undefined ? {} : { withinMs: o.within * 1000 }),
        });
        show(context, call);
        endAs(call);
      }),
    );
}

/** What a row of figures does not say of an answer. */
function turnNotes({ output }: Context, turn: CallTurn): string {
  const early = turn.requested_ms !== null && turn.requested_ms < turn.decided_ms;
  const notes = [
    early ? 'begun early' : null,
    turn.thrown_away > 0 ? `${turn.thrown_away} thrown away before` : null,
    turn.barged_in ? output.paint('yellow', 'cut short') : null,
  ];
  return notes.filter((note) => note !== null).join(', ');
}

/** What was said on a call, how fast, and what was told of it. */
function addCallDetails(calls: Command, run: Run): void {
  calls
    .command('transcript <id>')
    .description('what was said, and what of it was heard')
    .action(
      run(async (context, _o, id) => {
        const { offhook, output } = context;
        const [transcript, call] = await Promise.all([
          offhook.calls.transcript(id),
          output.json ? null : offhook.calls.get(id),
        ]);
        if (call === null) return output.data(transcript);
        if (transcript.data.length === 0) output.line(output.paint('dim', 'Nothing was said.'));
        for (const line of withGaps(transcript.data, call.gaps)) {
          output.line(
            'gap' in line ? gapLine(context, line.gap, hasEnded(call)) : spokenLine(context, line.item),
          );
        }
        if (transcript.status === 'live') output.line(output.paint('dim', '        … it goes on'));
      }),
    );

  calls
    .command('turns <id>')
    .description('how long each answer took, and where the time went')
    .action(
      run(async (context, _o, id) => {
        const { offhook, output } = context;
        const [turns, call] = await Promise.all([
          offhook.calls.turns(id),
          output.json ? null : offhook.calls.get(id),
        ]);
        if (call === null) return output.data(turns);
        const ms = (value: number | null) => (value === null ? '–' : String(Math.round(value)));
        output.table(
          ['turn', 'kind', 'heard after ms', 'end of turn', 'request', 'model', 'send', 'playout', ''],
          turns.data.map((turn) => [
            String(turn.index),
            turn.kind,
            output.paint('bold', ms(turn.latency_ms)),
            ms(turn.parts.end_of_turn_ms),
            ms(turn.parts.request_ms),
            ms(turn.parts.model_ms),
            ms(turn.parts.send_ms),
            ms(turn.parts.playout_ms),
            turnNotes(context, turn),
          ]),
          'No answer was given on this call.',
        );
        const passed = turns.interruptions.filter(({ taken_back }) => taken_back);
        if (passed.length > 0) {
          const paused = passed.filter(({ paused_ms }) => paused_ms !== null).length;
          const lowered = `${passed.length} ${passed.length === 1 ? 'sound' : 'sounds'} over the agent's voice let pass`;
          output.line(
            output.paint('dim', `${lowered}${paused === 0 ? '' : `, ${paused} of them paused it`}.`),
          );
        }
        for (const gap of call.gaps) output.line(gapLine(context, gap, hasEnded(call)));
      }),
    );

  calls
    .command('events <id>')
    .description('its events, each with its deliveries')
    .action(
      run(async ({ offhook, output, now }, _o, id) => {
        const events = await offhook.calls.events(id);
        if (output.json) return output.data(events);
        output.table(
          ['#', 'event', 'at', 'deliveries'],
          events.data.map((event) => [
            String(event.sequence),
            event.type,
            when(event.created_at, now()),
            event.deliveries.map(({ status, receiver }) => `${status} ${receiver}`).join(', ') ||
              'nobody asked for it',
          ]),
          'No events.',
        );
      }),
    );
}

/** The recording of a call. */
function addRecordingCommand(calls: Command, run: Run): void {
  calls
    .command('recording <id>')
    .description('its WAV file')
    .option(
      '--channels <which>',
      'stereo (the caller left, the agent right), mono, caller or agent',
      'stereo',
    )
    .option('--rate <hz>', '8000 or 16000 samples a second', '8000')
    .option('-o, --output <file>', 'where to (default <id>.wav; - for stdout)')
    .action(
      run(async ({ offhook, output, signal }, o: { output?: string } & Shape, id) => {
        const { channels, rate } = o;
        const response = await offhook.calls.recording(id, { signal, channels, rate });
        if (response.body === null) throw new Error('The recording is empty.');
        const file = o.output ?? `${id}.wav`;
        const source = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
        if (file === '-') return output.bytes(source);
        await saveAs(source, file, signal);
        if (output.json) output.data({ file });
        else output.line(file);
      }),
    );
}

/** Ending a call. */
function addEndCommands(calls: Command, run: Run): void {
  for (const [name, does] of [
    ['cancel', 'end a call that has not been answered'],
    ['hangup', 'end a live call'],
  ] as const) {
    calls
      .command(`${name} <id>`)
      .description(does)
      .action(run(async (context, _o, id) => show(context, await context.offhook.calls[name](id))));
  }
}
