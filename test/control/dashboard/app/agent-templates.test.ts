// Agents to begin from: each is one that the daemon takes as it stands.
import t from 'tap';
import { parseReturns } from '../../../../control/agents/returns-schema.ts';
import { draftAgent } from '../../../../control/api/agent-schemas.ts';
import { formFaults, newAgentOf } from '../../../../control/dashboard/app/forms/agent-form.ts';
import { AGENT_TABS, tabNamed, tabOf } from '../../../../control/dashboard/app/forms/agent-tabs.ts';
import {
  AGENT_TEMPLATES,
  blanksIn,
  formOfTemplate,
} from '../../../../control/dashboard/app/forms/agent-templates.ts';
import { languageChoices } from '../../../../control/dashboard/app/forms/languages.ts';
import { parse } from '../../../../control/http/schemas.ts';

for (const template of AGENT_TEMPLATES) {
  t.test(template.title, async (t) => {
    const form = formOfTemplate(template.id);
    t.same(formFaults(form), []);
    t.equal(form.returns.problem, null, 'the table shows what it brings back');
    const body = newAgentOf(form, []);
    t.match(parse(draftAgent, body), { name: template.title, type: template.type });
    t.same(Object.keys(parseReturns(body.returns)), Object.keys(template.returns));
    t.ok(blanksIn(form.instructions).length > 0, 'it says what is still to be filled in');
  });
}

t.test('a name that no template has is an empty form', async (t) => {
  t.equal(formOfTemplate('none').instructions, '');
  t.equal(formOfTemplate(null).name, '');
  t.equal(new Set(AGENT_TEMPLATES.map(({ id }) => id)).size, AGENT_TEMPLATES.length);
});

t.test('blanks are places in brackets on one line', async (t) => {
  t.same(blanksIn('Of [your business], at [street,\ncity]. A list: []. [x] [to do]'), [
    '[your business]',
    '[to do]',
  ]);
});

t.test('each field of an agent is on a tab', async (t) => {
  for (const [param, tab] of [
    ['name', 'instructions'],
    ['language', 'instructions'],
    ['voice', 'instructions'],
    ['tools[0].url', 'tools'],
    ['tools', 'tools'],
    ['returns[2].name', 'results'],
    ['number_ids[0]', 'numbers'],
    ['webhook_url', 'advanced'],
    ['model', 'advanced'],
    ['something_new', 'advanced'],
  ] as const)
    t.equal(tabOf(param), tab, param);
  t.equal(tabNamed(null), 'instructions');
  t.equal(tabNamed('nowhere'), 'instructions');
  for (const tab of AGENT_TABS) t.equal(tabNamed(tab), tab);
});

t.test('languages by name, and the one that is chosen among them', async (t) => {
  const labels = new Map(languageChoices('').map(({ value, label }) => [value, label]));
  t.equal(labels.get('de'), 'German – Deutsch');
  t.equal(labels.get('en'), 'English');
  t.match(labels.get('pt-BR'), /^Portuguese \(Brazil\) – português/);
  t.ok(labels.size >= 50);
  const sorted = [...labels.values()];
  t.same(
    sorted,
    [...sorted].sort((a, b) => a.localeCompare(b, 'en')),
  );
  t.notOk(labels.has('cy'));
  t.ok(
    languageChoices('cy').some(({ value }) => value === 'cy'),
    'one that is not offered, and is chosen',
  );
  t.equal(languageChoices('not a code').length, labels.size);
});
