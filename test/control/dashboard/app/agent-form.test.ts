// An agent as its form has it, and back.
import t from 'tap';
import { parseLanguage } from '../../../../control/agents/language.ts';
import { DEFAULT_PERSONA as OF_THE_DAEMON } from '../../../../control/agents/texts/system-prompt.ts';
import * as schemas from '../../../../control/api/agent-schemas.ts';
import {
  agentFormOf,
  changeOf,
  contested,
  DEFAULT_PERSONA,
  faultAt,
  formFaults,
  newAgentForm,
  newAgentOf,
  placedFault,
  sameForm,
} from '../../../../control/dashboard/app/forms/agent-form.ts';
import { languageName } from '../../../../control/dashboard/app/forms/languages.ts';
import { rowsOf } from '../../../../control/dashboard/app/forms/returns-table.ts';
import { ofText } from '../../../../control/dashboard/app/forms/table-text.ts';
import { newHttpTool } from '../../../../control/dashboard/app/forms/tool-form.ts';
import { parse } from '../../../../control/http/schemas.ts';
import type { Agent } from '../../../../control/sdk/index.ts';

const AGENT: Agent = {
  id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c11',
  org_id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c12',
  user_id: 'u',
  name: 'Reminder',
  type: 'outbound',
  persona: 'You are Ada.',
  instructions: 'Remind the person.',
  voice: 'cedar',
  model: 'mini',
  language: 'es',
  returns: { will_come: 'boolean', day: { type: 'date', description: 'the day' } },
  tools: [{ type: 'send_dtmf' }],
  webhook_url: 'https://example.com/hook',
  voicemail_action: 'leave_message',
  interruption_words: ['Sarah', 'okay doctor'],
  patience: 'long',
  eagerness: 'eager',
  interruption: 'hard',
  summarize: true,
  mask: ['card', 'iban'],
  consent: 'required',
  disclosure: { mode: 'custom', text: 'This is a machine.' },
  primary_number_id: null,
  archived_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  numbers: [],
};

t.test('the default persona is that of the daemon, and a new agent has its model’s own voice', async (t) => {
  t.notOk('voice' in newAgentOf({ ...newAgentForm(), name: 'One' }, []));
  t.equal(DEFAULT_PERSONA, OF_THE_DAEMON);
});

t.test('a form of an agent that nobody touched changes nothing', async (t) => {
  const form = agentFormOf(AGENT);
  t.same(changeOf(form, agentFormOf(AGENT)), {});
  t.ok(sameForm(form, agentFormOf(AGENT)));
  t.same(formFaults(form), []);
});

t.test('only what changed is sent, and what was emptied is cleared', async (t) => {
  const before = agentFormOf(AGENT);
  const after = {
    ...before,
    persona: '',
    language: ' ',
    webhookUrl: '',
    tools: [],
    patience: 'short' as const,
    name: ' Reminder two ',
    returns: ofText(before.returns, '', rowsOf),
  };
  const change = changeOf(before, after);
  t.same(change, {
    name: 'Reminder two',
    persona: null,
    language: null,
    returns: {},
    tools: null,
    webhook_url: null,
    patience: 'short',
  });
  t.same(parse(schemas.changeAgent, change), change, 'and the daemon takes it');
  t.notOk(sameForm(before, after));
});

t.test('other spaces in the JSON are no change of the agent', async (t) => {
  const before = agentFormOf(AGENT);
  const after = { ...before, returns: ofText(before.returns, JSON.stringify(AGENT.returns), rowsOf) };
  t.same(changeOf(before, after), {});
});

t.test('a new agent: what the daemon takes', async (t) => {
  const form = { ...newAgentForm(), name: 'Front desk' };
  t.same(formFaults(form), []);
  const body = newAgentOf(form, []);
  t.same(parse(schemas.createAgent, body), body);
  t.notOk('number_ids' in body);
  t.same(newAgentOf(form, ['n']).number_ids, ['n']);
});

t.test('faults stand at their fields', async (t) => {
  const form = {
    ...newAgentForm(),
    instructions: 'x'.repeat(32_001),
    language: 'english',
    webhookUrl: 'example.com',
    tools: [newHttpTool()],
    returns: ofText(newAgentForm().returns, '{ "a": "nothing" }', rowsOf),
  };
  t.same(
    formFaults(form).map((fault) => fault.param),
    [
      'name',
      'instructions',
      'language',
      'returns',
      'tools[0].name',
      'tools[0].description',
      'tools[0].url',
      'webhook_url',
    ],
  );
});

t.test('a fault is found at its place, or inside it', async (t) => {
  const faults = [{ param: 'tools[0].headers.X-A', message: 'is wrong' }];
  t.equal(faultAt(faults, 'tools[0].headers'), null);
  t.equal(faultAt(faults, 'tools[0].headers', { inside: true }), 'is wrong');
  t.equal(faultAt(faults, 'tools[0].header', { inside: true }), null);
  t.equal(faultAt(faults, 'tools[0].headers.X-A'), 'is wrong');
});

t.test('a language is known here when the daemon knows it', async (t) => {
  for (const tag of ['en', 'pt-BR', 'zh-Hant-TW', 'es-MX', 'english', 'e', 'xx', 'en_US', 'pt-', 'de-DE']) {
    let known = true;
    try {
      parseLanguage(tag);
    } catch {
      known = false;
    }
    t.equal(languageName(tag) !== null, known, tag);
  }
  t.equal(languageName('es-MX'), 'Spanish (Mexico)');
});

t.test('what the daemon refuses stands at its field, without the name of the field', async (t) => {
  const form = agentFormOf(AGENT);
  t.same(placedFault(form, { param: 'tools[0].url', message: 'tools[0].url: the address is not public' }), {
    param: 'tools[0].url',
    message: 'The address is not public',
  });
  t.same(placedFault(form, { param: 'returns.day', message: 'returns.day has an unknown type' }), {
    param: 'returns[1].name',
    message: 'Has an unknown type',
  });
  t.same(placedFault(form, { param: 'voice', message: 'must be one of a, b' }), {
    param: 'voice',
    message: 'Must be one of a, b',
  });
  const broken = { ...form, returns: ofText(form.returns, '{', rowsOf) };
  t.equal(placedFault(broken, { param: 'returns.day', message: 'x' }).param, 'returns.day');
});

t.test('two changes contest what both set, and not to the same', async (t) => {
  t.same(contested({ name: 'A', persona: 'x' }, { name: 'B', voice: 'ash' }), ['name']);
  t.same(contested({ name: 'A' }, { persona: 'y' }), []);
  t.same(contested({ name: 'A' }, { name: 'A' }), [], 'both said the same');
  t.same(contested({ persona: null }, { persona: 'y' }), ['persona']);
  t.same(contested({ returns: { a: 'string' } }, { returns: { b: 'string' } }), ['returns']);
});
