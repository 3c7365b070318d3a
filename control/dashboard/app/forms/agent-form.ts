// An agent as its form has it, and back: a new one, or what changed of one. PURE.
import type { Agent, AgentChange, AgentSummary, NewAgent } from '../../../sdk/index.ts';
import { readJson } from './json-text.ts';
import { languageName } from './languages.ts';
import { jsonOf, type ReturnsRow, faultsOf as rowFaults, rowsOf } from './returns-table.ts';
import { ofValue, type TableText } from './table-text.ts';
import { type ToolForm, toolFaults, toolFormsOf, toolsOf } from './tool-form.ts';

/** Who speaks when an agent has no persona of its own: shown where the field is empty. */
export const DEFAULT_PERSONA =
  'You are a friendly, professional AI assistant on the phone. You are calm, polite and to the point. You say that you are an AI assistant whenever someone asks. You say only what you know, and you say so when you do not know something.';

export const MAX_TEXT = 32_000;
const MAX_WORDS = 50;
const MAX_WORD = 60;
const MAX_LINE = 400;

export interface AgentForm {
  name: string;
  type: 'inbound' | 'outbound';
  persona: string;
  instructions: string;
  /** Empty: the model's own default. */
  voice: string;
  /** Empty: the default. */
  model: string;
  language: string;
  returns: TableText<ReturnsRow>;
  tools: ToolForm[];
  webhookUrl: string;
  voicemailAction: 'hangup' | 'leave_message';
  /** With commas between them. */
  interruptionWords: string;
  patience: Agent['patience'];
  eagerness: Agent['eagerness'];
  interruption: Agent['interruption'];
  summarize: boolean;
  consent: Agent['consent'];
  mask: Agent['mask'];
  /** What it says before all else; empty: as is usual for its type. */
  disclosure: '' | Agent['disclosure']['mode'];
  disclosureText: string;
}

/** A place in the form by the name that the API has for it, with what is wrong there. */
export interface FormFault {
  param: string;
  message: string;
}

export function newAgentForm(): AgentForm {
  return {
    name: '',
    type: 'inbound',
    persona: '',
    instructions: '',
    voice: '',
    model: '',
    language: '',
    returns: ofValue({}, rowsOf),
    tools: [],
    webhookUrl: '',
    voicemailAction: 'hangup',
    interruptionWords: '',
    patience: 'normal',
    eagerness: 'normal',
    interruption: 'normal',
    summarize: false,
    consent: 'none',
    mask: [],
    disclosure: '',
    disclosureText: '',
  };
}

export function agentFormOf(agent: Agent | AgentSummary): AgentForm {
  return {
    name: agent.name,
    type: agent.type,
    persona: agent.persona ?? '',
    instructions: agent.instructions ?? '',
    voice: agent.voice,
    model: agent.model ?? '',
    language: agent.language ?? '',
    returns: ofValue(agent.returns, rowsOf),
    // end_call is there whether an agent names it or not, and the form shows it as such.
    tools: toolFormsOf(agent.tools),
    webhookUrl: agent.webhook_url ?? '',
    voicemailAction: agent.voicemail_action,
    interruptionWords: agent.interruption_words.join(', '),
    patience: agent.patience,
    eagerness: agent.eagerness,
    interruption: agent.interruption,
    summarize: agent.summarize,
    consent: agent.consent,
    mask: agent.mask,
    disclosure: agent.disclosure.mode,
    disclosureText: agent.disclosure.text ?? '',
  };
}

export function sameForm(a: AgentForm, b: AgentForm): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The schema that the form's returns stand for. Ask formFaults first. */
function returnsOf(returns: TableText<ReturnsRow>): Record<string, unknown> {
  if (returns.text.trim() === '') return {};
  const read = readJson(returns.text);
  return read.ok ? (read.value as Record<string, unknown>) : jsonOf(returns.rows);
}

const wordsOf = (text: string) => text.split(/[,，、\n]/).flatMap((one) => one.trim() || []);

const orNull = (text: string) => (text.trim() === '' ? null : text);

/** What the daemon would refuse, said before it is asked; places and words as it would have them. */
export function formFaults(form: AgentForm): FormFault[] {
  const faults: FormFault[] = [];
  const say = (param: string, message: string) => faults.push({ param, message });
  if (form.name.trim() === '') say('name', 'Give the agent a name, such as Front desk.');
  else if (form.name.length > 200) say('name', '200 characters at most.');
  for (const [param, value] of [
    ['persona', form.persona],
    ['instructions', form.instructions],
  ] as const) {
    if (value.length > MAX_TEXT) {
      say(
        param,
        `${MAX_TEXT.toLocaleString('en-US')} characters at most; take out ${(value.length - MAX_TEXT).toLocaleString('en-US')}.`,
      );
    }
  }
  if (form.language.trim() !== '' && languageName(form.language) === null) {
    say('language', 'This is no language code. Use one such as en, es or pt-BR, or leave it empty.');
  }
  if (form.returns.problem !== null) say('returns', form.returns.problem.message);
  else {
    for (const fault of rowFaults(form.returns.rows)) {
      say(`returns[${fault.row}].${fault.cell}`, fault.message);
    }
  }
  const words = wordsOf(form.interruptionWords);
  if (words.length > MAX_WORDS) say('interruption_words', `${MAX_WORDS} at most.`);
  else if (words.some((one) => one.length > MAX_WORD))
    say('interruption_words', `${MAX_WORD} characters each at most, with commas between them.`);
  if (form.disclosure === 'custom' && form.disclosureText.trim() === '')
    say('disclosure', 'Write the line, or choose another.');
  else if (form.disclosureText.length > MAX_LINE) say('disclosure', `${MAX_LINE} characters at most.`);
  faults.push(...toolFaults(form.tools));
  if (form.webhookUrl.trim() !== '' && !/^https?:\/\/[^\s/]/.test(form.webhookUrl.trim())) {
    say('webhook_url', 'Write the address in full: https://example.com/offhook');
  }
  return faults;
}

/** The fields that creation and change share, as the API takes them. */
function bodyOf(form: AgentForm) {
  return {
    name: form.name.trim(),
    persona: orNull(form.persona),
    instructions: orNull(form.instructions),
    ...(form.voice === '' ? {} : { voice: form.voice as NonNullable<NewAgent['voice']> }),
    model: orNull(form.model.trim()),
    language: orNull(form.language.trim()),
    returns: returnsOf(form.returns) as NonNullable<NewAgent['returns']>,
    tools: toolsOf(form.tools) as NonNullable<NewAgent['tools']> | null,
    webhook_url: orNull(form.webhookUrl.trim()),
    voicemail_action: form.voicemailAction,
    interruption_words: wordsOf(form.interruptionWords),
    patience: form.patience,
    eagerness: form.eagerness,
    interruption: form.interruption,
    summarize: form.summarize,
    consent: form.consent,
    mask: form.mask,
    disclosure: disclosureOf(form),
  };
}

/** Null: as is usual for its type. */
function disclosureOf({
  disclosure,
  disclosureText,
}: AgentForm): NonNullable<AgentChange['disclosure']> | null {
  if (disclosure === '') return null;
  return { mode: disclosure, text: disclosure === 'custom' ? disclosureText.trim() : null };
}

export function newAgentOf(form: AgentForm, numberIds: readonly string[]): NewAgent {
  return {
    ...bodyOf(form),
    type: form.type,
    ...(numberIds.length === 0 ? {} : { number_ids: [...numberIds] }),
  };
}

/** What to send for the change from one form to the other; empty when they mean the same. */
export function changeOf(before: AgentForm, after: AgentForm): AgentChange {
  const was = bodyOf(before);
  const is = bodyOf(after);
  return Object.fromEntries(
    Object.entries(is).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(was[field as keyof typeof was]),
    ),
  ) as AgentChange;
}

/** The fields that a change and somebody else's change since both set, to something else each. */
export function contested(mine: AgentChange, theirs: AgentChange): (keyof AgentChange)[] {
  return (Object.keys(mine) as (keyof AgentChange)[]).filter(
    (field) => field in theirs && JSON.stringify(mine[field]) !== JSON.stringify(theirs[field]),
  );
}

/** The message for a place: of that very place, or of one inside it that no field of its own shows. */
export function faultAt(
  faults: readonly FormFault[],
  param: string,
  o: { inside?: boolean } = {},
): string | null {
  const found = faults.find(
    (fault) =>
      fault.param === param ||
      (o.inside === true && (fault.param.startsWith(`${param}.`) || fault.param.startsWith(`${param}[`))),
  );
  return found?.message ?? null;
}

/**
 * A fault as the daemon names its place, at the place where the form shows it: rows of the table count, they have no names;
 * and without the name of the place in its words, since it stands there.
 */
export function placedFault(form: AgentForm, fault: FormFault): FormFault {
  const rest = fault.message.startsWith(fault.param)
    ? fault.message.slice(fault.param.length).replace(/^[:\s]+/, '')
    : fault.message;
  const message = rest.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
  const field = /^returns\.([^.[]+)/.exec(fault.param)?.[1];
  const row = field === undefined ? -1 : form.returns.rows.findIndex((one) => one.name === field);
  const inTable = row >= 0 && form.returns.problem === null;
  return { param: inTable ? `returns[${row}].name` : fault.param, message };
}
