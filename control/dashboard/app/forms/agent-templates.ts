// Agents to begin from: a task that works as it stands, with what is the reader's own left open in [brackets]. PURE.
import { type AgentForm, newAgentForm } from './agent-form.ts';
import { rowsOf } from './returns-table.ts';
import { ofValue } from './table-text.ts';

export interface AgentTemplate {
  /** In the address. */
  id: string;
  title: string;
  /** What it is for, in a sentence. */
  text: string;
  type: AgentForm['type'];
  instructions: string;
  returns: Record<string, unknown>;
  patience?: AgentForm['patience'];
  voicemailAction?: AgentForm['voicemailAction'];
}

export const AGENT_TEMPLATES: readonly AgentTemplate[] = [
  {
    id: 'receptionist',
    title: 'Receptionist',
    text: 'Answers the phone, says what people ask most, takes a message for the rest.',
    type: 'inbound',
    instructions: `You answer the phone of [name of your business].
Find out what the caller wants, one question at a time.
If they ask for something that stands below, answer it in a sentence or two.
For everything else take a message: ask for their name, for a number to call back and read it back to them, and for what it is about. Tell them that somebody will call back [by when].

What you know:
- Opening hours: [days and hours].
- Address: [street, city, how to get there].
- [What people ask most, with the answer].`,
    returns: {
      caller_name: 'string',
      callback_number: { type: 'string', description: 'As it was read back, with its country code.' },
      subject: { type: 'string', description: 'What it is about, in one sentence.' },
      wants_callback: 'boolean',
    },
  },
  {
    id: 'reminder',
    title: 'Reminder',
    text: 'Calls about an appointment, hears whether they come, notes another day.',
    type: 'outbound',
    instructions: `You call for [name of your business] about the appointment in the call data.
Ask first whether you speak to the person whose name stands there. If not, ask whether you may reach them later, tell nobody else what the appointment is for, and say goodbye.
Say day and time of the appointment. Ask whether they will come.
If they cannot, ask which day and time would suit instead. Say that somebody will confirm it; promise nothing yourself.`,
    returns: {
      reached_person: 'boolean',
      will_come: 'boolean',
      new_time: { type: 'datetime', description: 'What would suit instead, if they said so.' },
      remark: 'string',
    },
    voicemailAction: 'leave_message',
  },
  {
    id: 'order-line',
    title: 'Order line',
    text: 'Takes an order by phone, item by item, and reads it back.',
    type: 'inbound',
    instructions: `You take orders by phone for [name of your business].
Ask what they would like, and after each item how many. Offer only what stands in the list below; if something is not in it, say so.
Then ask for a name and whether they pick it up or want it brought; for the latter ask for the address and read it back.
At the end read the whole order back with its total, and ask whether it is right.

What there is:
- [item, price]
- [item, price]
Ready after [how many] minutes. Brought to [where you deliver], for [price].`,
    returns: {
      items: { type: 'string[]', description: 'Each with how many: 2 Margherita.' },
      customer_name: 'string',
      delivery: 'enum(pickup|delivery)',
      address: 'string',
      confirmed: { type: 'boolean', description: 'They said that the order as read back is right.' },
    },
    patience: 'long',
  },
  {
    id: 'survey',
    title: 'Survey',
    text: 'Asks a few questions after a purchase or a visit, and keeps to them.',
    type: 'outbound',
    instructions: `You call for [name of your business] with three short questions about [what they bought or visited]. It takes two minutes.
Ask first whether now is a good moment. If not, ask when to call again, thank them and say goodbye.
Ask these, one after the other, and wait for each answer:
1. From one to five, how content are you with [what it is about]?
2. What should we do better?
3. Would you recommend us?
Do not argue with an answer and do not sell anything. Thank them at the end.`,
    returns: {
      took_part: 'boolean',
      rating: { type: 'integer', description: 'From one to five.' },
      better: 'string',
      would_recommend: 'boolean',
      call_again: 'datetime',
    },
    patience: 'long',
  },
  {
    id: 'callback',
    title: 'Callback',
    text: 'Calls back somebody who asked for it, and clears up what they need.',
    type: 'outbound',
    instructions: `You call back for [name of your business]: the person in the call data asked for it, and what they wrote stands there.
Say that you call because they asked, and what about. Ask whether now is a good moment.
Clear up what they need: [what you must know, such as the model, the date, the size]. Ask one thing at a time.
Prices and dates you do not know: say that [who] will send them [by when], and ask where to.`,
    returns: {
      need: { type: 'string', description: 'What they need, in two sentences.' },
      urgent: 'boolean',
      email: 'string',
      next_step: 'enum(offer|meeting|no_interest|call_again)',
    },
    voicemailAction: 'leave_message',
  },
];

/** A form filled from a template; an empty one for a name that none has. */
export function formOfTemplate(id: string | null): AgentForm {
  const form = newAgentForm();
  const found = AGENT_TEMPLATES.find((one) => one.id === id);
  if (found === undefined) return form;
  return {
    ...form,
    name: found.title,
    type: found.type,
    instructions: found.instructions,
    returns: ofValue(found.returns, rowsOf),
    patience: found.patience ?? form.patience,
    voicemailAction: found.voicemailAction ?? form.voicemailAction,
  };
}

/** The places in [brackets] that are still to be filled in. */
export function blanksIn(text: string): string[] {
  return text.match(/\[[^\][\n]{2,80}\]/g) ?? [];
}
