// `offhook webhooks`, `deliveries`, `events`: endpoints and their secrets, what was sent to them, and what there was to tell.
import type { Command } from 'commander';
import type { NewWebhookEndpoint, WebhookDelivery, WebhookEndpoint } from '../../sdk/index.ts';
import type { Run } from '../context.ts';
import { atLeastOne, type Context, collect } from '../context.ts';
import { Ending, EXIT } from '../exit.ts';
import { short, when } from '../output.ts';

type EventNames = NonNullable<NewWebhookEndpoint['enabled_events']>;

function showEndpoint({ output, now }: Context, endpoint: WebhookEndpoint & { secret?: string }): void {
  if (output.json) {
    output.data(endpoint);
    return;
  }
  output.facts([
    ['id', endpoint.id],
    ['url', output.paint('bold', endpoint.url)],
    ['events', endpoint.enabled_events.join(', ')],
    ['status', endpoint.status === 'enabled' ? 'enabled' : `disabled: ${endpoint.disabled_reason ?? ''}`],
    ['failures in a row', String(endpoint.consecutive_failures)],
    ['description', endpoint.description],
    ['created', when(endpoint.created_at, now())],
    ['secret', endpoint.secret === undefined ? null : `${endpoint.secret}   (shown this once)`],
  ]);
}

const paintDelivery = ({ output }: Context, { status }: WebhookDelivery) =>
  output.paint(status === 'delivered' ? 'green' : status === 'exhausted' ? 'red' : 'cyan', status);

export function addWebhookCommands(program: Command, run: Run): void {
  const webhooks = program
    .command('webhooks')
    .alias('webhook')
    .description('who is sent events, and what became of them');

  addEndpointCommands(webhooks, run);
  addEndpointActions(webhooks, run);
  addSecretCommands(webhooks, run);
  addDeliveryCommands(program, run);
  addEventCommand(program, run);
}

/** Endpoints: list, read, create, change. */
function addEndpointCommands(webhooks: Command, run: Run): void {
  webhooks
    .command('list')
    .alias('ls')
    .description('your endpoints')
    .action(
      run(async ({ offhook, output }) => {
        const items = await offhook.webhookEndpoints.list({ limit: 100 }).all();
        if (output.json) return output.data(items);
        output.table(
          ['url', 'status', 'events', 'failures', 'id'],
          items.map((endpoint) => [
            output.paint('bold', short(endpoint.url, 60)),
            endpoint.status === 'enabled'
              ? output.paint('green', 'enabled')
              : output.paint('red', `disabled: ${endpoint.disabled_reason}`),
            short(endpoint.enabled_events.join(', '), 40),
            String(endpoint.consecutive_failures),
            endpoint.id,
          ]),
          'No endpoints yet. Add one: offhook webhooks create https://example.com/offhook',
        );
      }),
    );

  webhooks
    .command('get <id>')
    .description('one endpoint')
    .action(
      run(async (context, _o, id) => showEndpoint(context, await context.offhook.webhookEndpoints.get(id))),
    );

  webhooks
    .command('create <url>')
    .description('send events to a URL; its secret is shown this once')
    .option('--event <type>', 'such as call.completed; may be given again (default: all)', collect)
    .option('--description <text>')
    .action(
      run(async (context, o: { event?: string[]; description?: string }, url) =>
        showEndpoint(
          context,
          await context.offhook.webhookEndpoints.create({
            url,
            ...(o.event === undefined ? {} : { enabled_events: o.event as EventNames }),
            ...(o.description === undefined ? {} : { description: o.description }),
          }),
        ),
      ),
    );

  webhooks
    .command('update <id>')
    .description('change an endpoint')
    .option('--url <url>')
    .option('--event <type>', 'may be given again', collect)
    .option('--description <text>')
    .option('--enable')
    .option('--disable')
    .action(
      run(
        async (
          context,
          o: { url?: string; event?: string[]; description?: string; enable?: boolean; disable?: boolean },
          id,
        ) =>
          showEndpoint(
            context,
            await context.offhook.webhookEndpoints.update(id, {
              ...(o.url === undefined ? {} : { url: o.url }),
              ...(o.event === undefined ? {} : { enabled_events: o.event as EventNames }),
              ...(o.description === undefined ? {} : { description: o.description }),
              ...(o.enable
                ? { status: 'enabled' as const }
                : o.disable
                  ? { status: 'disabled' as const }
                  : {}),
            }),
          ),
      ),
    );
}

/** What is done with one endpoint, and which events there are. */
function addEndpointActions(webhooks: Command, run: Run): void {
  webhooks
    .command('delete <id>')
    .description('remove an endpoint')
    .action(
      run(async ({ offhook, output }, _o, id) => {
        await offhook.webhookEndpoints.delete(id);
        if (output.json) output.data({ deleted: id });
        else output.line('Deleted.');
      }),
    );

  webhooks
    .command('rotate-secret <id>')
    .description('a new secret, shown this once; the old one signs beside it for 24 hours')
    .action(
      run(async (context, _o, id) =>
        showEndpoint(context, await context.offhook.webhookEndpoints.rotateSecret(id)),
      ),
    );

  webhooks
    .command('test <id>')
    .description('send a test event now, and say what came back')
    .action(
      run(async ({ offhook, output }, _o, id) => {
        const outcome = await offhook.webhookEndpoints.test(id);
        if (output.json) output.data(outcome);
        else {
          const well = outcome.status === 'delivered';
          const answer =
            outcome.status_code === null ? (outcome.error ?? 'no answer') : String(outcome.status_code);
          output.line(
            `${output.paint(well ? 'green' : 'red', outcome.status)}: ${answer} in ${outcome.latency_ms} ms`,
          );
        }
        if (outcome.status !== 'delivered') throw new Ending(EXIT.failed);
      }),
    );

  webhooks
    .command('replay <id>')
    .description('send again what an endpoint missed')
    .requiredOption('--since <time>', 'from when on, ISO 8601')
    .option('--until <time>', 'up to when')
    .option('--all', 'what was delivered too')
    .action(
      run(async ({ offhook, output }, o: { since: string; until?: string; all?: boolean }, id) => {
        const answer = await offhook.webhookEndpoints.replay(id, {
          since: o.since,
          ...(o.until === undefined ? {} : { until: o.until }),
          ...(o.all ? { only: 'all' as const } : {}),
        });
        if (output.json) output.data(answer);
        else output.line(`${answer.count} queued again.`);
      }),
    );

  webhooks
    .command('event-types')
    .description('every event type there is')
    .action(
      run(async ({ offhook, output }) => {
        const types = await offhook.webhookEvents.list();
        if (output.json) return output.data(types);
        for (const type of types) output.line(type);
      }),
    );
}

/** The organization's own secret. */
function addSecretCommands(webhooks: Command, run: Run): void {
  const secret = webhooks.command('secret').description('the secret that signs what goes to a webhook_url');
  secret
    .command('get')
    .description('how it ends, and whether another one is going out')
    .action(
      run(async ({ offhook, output, now }) => {
        const known = await offhook.webhookSecret.get();
        if (output.json) return output.data(known);
        output.facts([
          ['ends with', known.last4],
          [
            'the one before signs until',
            known.previous_expires_at === null ? null : when(known.previous_expires_at, now()),
          ],
        ]);
      }),
    );
  secret
    .command('rotate')
    .description('a new one, shown this once')
    .action(
      run(async ({ offhook, output }) => {
        const made = await offhook.webhookSecret.rotate();
        if (output.json) return output.data(made);
        output.line(made.secret);
      }),
    );
}

/** What was sent, attempt by attempt. */
function addDeliveryCommands(program: Command, run: Run): void {
  const deliveries = program
    .command('deliveries')
    .alias('delivery')
    .description('what was sent to whom, and how it went');
  deliveries
    .command('list')
    .alias('ls')
    .description('deliveries, newest first')
    .option('--status <status>', 'pending, delivered or exhausted')
    .option('--call <id>')
    .option('--endpoint <id>')
    .option('--event <type>')
    .option('--limit <count>', 'how many at most', atLeastOne, 20)
    .action(
      run(
        async (
          context,
          o: {
            status?: WebhookDelivery['status'];
            call?: string;
            endpoint?: string;
            event?: WebhookDelivery['event_type'];
            limit: number;
          },
        ) => {
          const { offhook, output, now } = context;
          const items = await offhook.webhookDeliveries
            .list({
              limit: Math.min(100, o.limit),
              ...(o.status === undefined ? {} : { status: o.status }),
              ...(o.call === undefined ? {} : { call_id: o.call }),
              ...(o.endpoint === undefined ? {} : { endpoint_id: o.endpoint }),
              ...(o.event === undefined ? {} : { event_type: o.event }),
            })
            .all(o.limit);
          if (output.json) return output.data(items);
          output.table(
            ['created', 'event', 'status', 'attempts', 'last answer', 'to', 'id'],
            items.map((delivery) => [
              when(delivery.created_at, now()),
              delivery.event_type,
              paintDelivery(context, delivery),
              String(delivery.attempt_count),
              delivery.last_response_status === null
                ? short(delivery.last_error ?? '–', 30)
                : String(delivery.last_response_status),
              short(delivery.url, 50),
              delivery.id,
            ]),
            'No deliveries like that.',
          );
        },
      ),
    );
  deliveries
    .command('get <id>')
    .description('one delivery with every attempt')
    .action(
      run(async (context, _o, id) => {
        const { offhook, output, now } = context;
        const delivery = await offhook.webhookDeliveries.get(id);
        if (output.json) return output.data(delivery);
        output.facts([
          ['id', delivery.id],
          ['event', delivery.event_type],
          ['status', paintDelivery(context, delivery)],
          ['to', delivery.url],
          ['next attempt', delivery.status === 'pending' ? when(delivery.next_attempt_at, now()) : null],
        ]);
        output.line();
        output.table(
          ['attempt', 'at', 'took', 'answer', ''],
          delivery.attempts.map((attempt) => [
            String(attempt.attempt),
            when(attempt.started_at, now()),
            `${attempt.latency_ms} ms`,
            attempt.response_status === null ? '–' : String(attempt.response_status),
            short(attempt.error ?? attempt.response_excerpt ?? '', 60),
          ]),
          'No attempt yet.',
        );
      }),
    );
  deliveries
    .command('redeliver <id>')
    .description('send it again now')
    .action(
      run(async ({ offhook, output }, _o, id) => {
        const delivery = await offhook.webhookDeliveries.redeliver(id);
        if (output.json) output.data(delivery);
        else output.line(`Queued again for ${delivery.url}.`);
      }),
    );
}

/** Events, past and live. */
function addEventCommand(program: Command, run: Run): void {
  program
    .command('events')
    .description('events of all calls, newest first')
    .option('--call <id>')
    .option('--type <type>')
    .option('--limit <count>', 'how many at most', atLeastOne, 20)
    .action(
      run(
        async (
          { offhook, output, now },
          o: { call?: string; type?: WebhookDelivery['event_type']; limit: number },
        ) => {
          const items = await offhook.events
            .list({
              limit: Math.min(100, o.limit),
              ...(o.call === undefined ? {} : { call_id: o.call }),
              ...(o.type === undefined ? {} : { type: o.type }),
            })
            .all(o.limit);
          if (output.json) return output.data(items);
          output.table(
            ['at', 'event', '#', 'call', 'id'],
            items.map((event) => [
              when(event.created_at, now()),
              event.type,
              String(event.sequence),
              event.call_id,
              event.id,
            ]),
            'No events.',
          );
        },
      ),
    );
}
