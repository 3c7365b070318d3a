// `offhook agents`: list, read, make, change and archive agents, and which numbers each has.
import type { Command } from 'commander';
import type { Agent, NewAgent } from '../../sdk/index.ts';
import type { Run } from '../context.ts';
import {
  agentId,
  atLeastOne,
  type Context,
  collect,
  jsonOf,
  numberId,
  objectOf,
  textOf,
} from '../context.ts';
import { short, when } from '../output.ts';

interface Fields {
  name?: string;
  type?: NewAgent['type'];
  persona?: string;
  instructions?: string;
  voice?: string;
  model?: string;
  language?: string;
  returns?: string;
  tools?: string;
  webhookUrl?: string;
  voicemailAction?: string;
  interruptionWords?: string;
  patience?: string;
  eagerness?: string;
  interruption?: string;
  summarize?: boolean;
  mask?: string;
  number?: string[];
  body?: string;
}

const listOf = (text: string) => text.split(',').flatMap((one) => one.trim() || []);

const bodyOf = (o: Fields): Record<string, unknown> => ({
  ...(o.body === undefined ? {} : objectOf(o.body, '--body')),
  ...(o.name === undefined ? {} : { name: o.name }),
  ...(o.type === undefined ? {} : { type: o.type }),
  ...(o.persona === undefined ? {} : { persona: textOf(o.persona) }),
  ...(o.instructions === undefined ? {} : { instructions: textOf(o.instructions) }),
  ...(o.voice === undefined ? {} : { voice: o.voice }),
  ...(o.model === undefined ? {} : { model: o.model === 'default' ? null : o.model }),
  ...(o.language === undefined ? {} : { language: o.language }),
  ...(o.returns === undefined ? {} : { returns: objectOf(o.returns, '--returns') }),
  ...(o.tools === undefined ? {} : { tools: jsonOf(o.tools, '--tools') }),
  ...(o.webhookUrl === undefined ? {} : { webhook_url: o.webhookUrl }),
  ...(o.voicemailAction === undefined ? {} : { voicemail_action: o.voicemailAction }),
  ...(o.interruptionWords === undefined ? {} : { interruption_words: listOf(o.interruptionWords) }),
  ...(o.patience === undefined ? {} : { patience: o.patience }),
  ...(o.eagerness === undefined ? {} : { eagerness: o.eagerness }),
  ...(o.interruption === undefined ? {} : { interruption: o.interruption }),
  ...(o.summarize === undefined ? {} : { summarize: o.summarize }),
  ...(o.mask === undefined ? {} : { mask: o.mask === 'none' ? [] : listOf(o.mask) }),
});

const withFields = (command: Command) =>
  command
    .option('--persona <text>', 'who the agent is (@file, - for stdin)')
    .option('--instructions <text>', 'what it is to do (@file, - for stdin)')
    .option('--voice <voice>')
    .option('--model <name>', 'the speech model, by its name at the daemon; default: the one it has as such')
    .option('--language <code>', 'such as en or es-MX; else the other side decides')
    .option('--returns <json>', 'what to extract, such as \'{"will_come": "boolean"}\' (@file)')
    .option('--tools <json>', 'its tools, a JSON list (@file)')
    .option('--webhook-url <url>')
    .option('--voicemail-action <action>', 'hangup or leave_message')
    .option('--interruption-words <words>', 'stop it when said over its voice, with commas between them')
    .option('--patience <word>', 'short, normal or long: how long it waits for who may not have finished')
    .option('--eagerness <word>', 'relaxed, normal or eager: how soon it answers')
    .option('--interruption <word>', 'hard, normal or easy: how easily it is interrupted')
    .option('--summarize', 'sum each call up when it is over')
    .option('--no-summarize', 'sum none up')
    .option('--mask <kinds>', 'numbers that are not stored: card, iban, ssn, with commas; or none')
    .option('--body <json>', 'the whole request as JSON (@file, - for stdin); the flags go over it');

function show({ output, now }: Context, agent: Agent): void {
  if (output.json) {
    output.data(agent);
    return;
  }
  output.facts([
    ['id', agent.id],
    ['name', output.paint('bold', agent.name)],
    ['type', agent.type],
    ['voice', agent.voice],
    ['model', agent.model ?? 'the default'],
    ['language', agent.language ?? 'the other side decides'],
    [
      'numbers',
      agent.numbers
        .map(({ id, e164 }) => (id === agent.primary_number_id ? `${e164} (primary)` : e164))
        .join('\n') || 'none',
    ],
    ['persona', agent.persona === null ? 'the default one' : short(agent.persona, 200)],
    ['instructions', agent.instructions === null ? 'none' : short(agent.instructions, 400)],
    ['returns', Object.keys(agent.returns).join(', ') || 'nothing'],
    [
      'tools',
      (agent.tools ?? []).map((tool) => ('name' in tool ? tool.name : tool.type)).join(', ') ||
        'end_call alone',
    ],
    ['webhook', agent.webhook_url ?? 'none'],
    ['voicemail', agent.voicemail_action],
    ['stopped by', agent.interruption_words.join(', ') || null],
    ['turns', `patience ${agent.patience}, eagerness ${agent.eagerness}, interruption ${agent.interruption}`],
    ['summed up', agent.summarize ? 'yes' : 'no'],
    ['masked', agent.mask.join(', ') || 'nothing'],
    ['created', when(agent.created_at, now())],
    ['archived', agent.archived_at === null ? null : when(agent.archived_at, now())],
  ]);
}

export function addAgentCommands(program: Command, run: Run): void {
  const agents = program.command('agents').alias('agent').description('create, change and read agents');

  addAgentRecords(agents, run);
  addAgentNumbers(agents, run);
}

/** Agents: list, read, create, change, archive. */
function addAgentRecords(agents: Command, run: Run): void {
  agents
    .command('list')
    .alias('ls')
    .description('your agents, newest first')
    .option('--type <type>', 'inbound or outbound')
    .option('--archived', 'archived ones too')
    .option('--limit <count>', 'how many at most', atLeastOne, 50)
    .action(
      run(async (context, o: { type?: 'inbound' | 'outbound'; archived?: boolean; limit: number }) => {
        const { offhook, output, now } = context;
        const items = await offhook.agents
          .list({
            limit: Math.min(100, o.limit),
            ...(o.type === undefined ? {} : { type: o.type }),
            ...(o.archived ? { include_archived: true } : {}),
          })
          .all(o.limit);
        if (output.json) return output.data(items);
        output.table(
          ['name', 'type', 'voice', 'created', 'id'],
          items.map((agent) => [
            output.paint(agent.archived_at === null ? 'bold' : 'dim', short(agent.name, 40)),
            agent.archived_at === null ? agent.type : `${agent.type}, archived`,
            agent.voice,
            when(agent.created_at, now()),
            agent.id,
          ]),
          'No agents yet. Make one: offhook agents create --name Reminder --type outbound --instructions "…"',
        );
      }),
    );

  agents
    .command('get <agent>')
    .description('one agent, by id or name')
    .action(
      run(async (context, _o, agent) =>
        show(context, await context.offhook.agents.get(await agentId(agent, context))),
      ),
    );

  withFields(
    agents
      .command('create')
      .description('a new agent')
      .option('--name <name>')
      .option('--type <type>', 'inbound (answers) or outbound (calls)')
      .option('--number <number>', 'a number of yours to attach, E.164 or id; may be given again', collect),
  ).action(
    run(async (context, o: Fields) => {
      const ids = await Promise.all((o.number ?? []).map((one) => numberId(one, context)));
      const body = { ...bodyOf(o), ...(ids.length === 0 ? {} : { number_ids: ids }) };
      show(context, await context.offhook.agents.create(body as unknown as NewAgent));
    }),
  );

  withFields(
    agents.command('update <agent>').description('change fields of an agent').option('--name <name>'),
  ).action(
    run(async (context, o: Fields, agent) =>
      show(context, await context.offhook.agents.update(await agentId(agent, context), bodyOf(o))),
    ),
  );

  agents
    .command('archive <agent>')
    .description('take it out of use; its numbers are detached, live calls go on')
    .action(
      run(async (context, _o, agent) =>
        show(context, await context.offhook.agents.archive(await agentId(agent, context))),
      ),
    );
}

/** The numbers of an agent. */
function addAgentNumbers(agents: Command, run: Run): void {
  agents
    .command('attach <agent> <number>')
    .description('let it answer or call from a number of yours (E.164 or id)')
    .option('--primary', 'the one it calls from unless told otherwise')
    .action(
      run(async (context, o: { primary?: boolean }, agent, number) =>
        show(
          context,
          await context.offhook.agents.attachNumber(await agentId(agent, context), {
            number_id: await numberId(number, context),
            ...(o.primary ? { primary: true } : {}),
          }),
        ),
      ),
    );

  agents
    .command('detach <agent> <number>')
    .description('take a number away from it')
    .action(
      run(async (context, _o, agent, number) =>
        show(
          context,
          await context.offhook.agents.detachNumber(
            await agentId(agent, context),
            await numberId(number, context),
          ),
        ),
      ),
    );

  agents
    .command('primary <agent> <number>')
    .description('the number it calls from unless told otherwise')
    .action(
      run(async (context, _o, agent, number) =>
        show(
          context,
          await context.offhook.agents.setPrimaryNumber(await agentId(agent, context), {
            number_id: await numberId(number, context),
          }),
        ),
      ),
    );
}
