// What the routes of a call's turns and events answer, with what the reference says of each field. PURE.
import { z } from 'zod';
import { EVENT_TYPES } from '../../storage/records.ts';
import { id, time } from '../http/schemas.ts';
import { CALL_EVENTS, CALL_TURNS } from './examples.ts';

const ms = z.number().nullable();

const turnParts = z
  .strictObject({
    end_of_turn_ms: ms.describe(
      "From the end of the other side's speech to the decision that it was its whole turn. Null: no speech was answered.",
    ),
    request_ms: ms.describe(
      'From there until the model was asked: more than a moment only while its session is not there yet or another response runs.',
    ),
    model_ms: ms.describe(
      "From the request to the model's first sound, a tool that it used first included. Null: no sound came.",
    ),
    send_ms: ms.describe('From there to the first frame given to the carrier. Null: none was.'),
    playout_ms: ms.describe(
      'From there until the carrier confirmed it as heard, to 100 ms. Null: nothing was heard.',
    ),
  })
  .meta({
    id: 'TurnParts',
    description: "What a turn's wait was made of; where each part is known they add up to `latency_ms`.",
  });

const turn = z
  .strictObject({
    id: id.describe('Turn id.'),
    index: z.int().describe('Counts the turns of the call from 1.'),
    kind: z
      .enum(['greeting', 'answer', 'prompt'])
      .describe(
        '`greeting`: the first words. `answer`: to speech, to keys pressed, or with what a tool gave. `prompt`: the agent spoke by itself, because the other side was silent or for a voicemail message.',
      ),
    speech_end_ms: ms.describe('When the speech that it answers ended. Null: it answers none.'),
    decided_ms: z.number().describe('When it was decided that the agent has to speak.'),
    requested_ms: ms.describe(
      'When the model was asked. Before `decided_ms`: in a pause of the caller, and its answer was kept back until his turn was over. Null: it was not.',
    ),
    first_model_audio_ms: ms.describe("When the model's first sound came. Null: none came."),
    first_sent_ms: ms.describe('When the first frame of it was given to the carrier. Null: none was.'),
    first_heard_ms: ms.describe(
      "When its first sound was heard, by the carrier's word. Null: nothing was heard.",
    ),
    barged_in: z.boolean().describe('Whether the other side cut it short.'),
    thrown_away: z
      .int()
      .describe(
        'Answers begun in pauses of the other side before this one, and thrown away unheard because it went on. Those after the last one, because it went on or was gone, have a row of their own, in which nothing was asked or heard.',
      ),
    latency_ms: ms.describe(
      "What the other side waited until it heard something: from the end of its speech, for a greeting from the start of the call's audio, else from `decided_ms`. Null: nothing was heard.",
    ),
    parts: turnParts.describe('What the wait was made of.'),
  })
  .meta({
    id: 'Turn',
    description: "The moments of one answer, in milliseconds since the call's audio began.",
  });

const interruption = z
  .strictObject({
    id: id.describe('Interruption id.'),
    at_ms: z.number().describe('When it was decided what it was.'),
    onset_ms: ms.describe("When the other side's speech began. Null: not known."),
    held_ms: ms.describe(
      "When the agent's voice was held back: lowered at first. Null: it was cut without that.",
    ),
    paused_ms: ms.describe(
      'When it was paused, because the sound lasted. Null: it was only lowered, and went on being heard.',
    ),
    silenced_ms: ms.describe('When the last sound of the agent was played at the carrier. Null: not known.'),
    taken_back: z
      .boolean()
      .describe(
        'True: it was no interruption (a cough, an "mhm"), and the voice went on as loud as before, where it had stopped if it had.',
      ),
  })
  .meta({
    id: 'Interruption',
    description:
      "The other side speaking into the agent's voice, in milliseconds since the call's audio began. A short word that was let pass at first and stopped the agent once its words were known is told twice, with the same `onset_ms`: the second holds.",
  });

export const callTurns = z
  .strictObject({
    call_id: id.describe('The call.'),
    status: z
      .enum(['live', 'final'])
      .describe('`live` while the call lasts: more follows. `final` once it has ended.'),
    data: z.array(turn).describe('Every time the agent was to speak, in order.'),
    interruptions: z.array(interruption).describe('Every time the other side spoke into it, in order.'),
  })
  .meta({
    id: 'CallTurns',
    description: 'How fast the agent answered on a call, and how it was interrupted.',
    examples: [CALL_TURNS],
  });

const eventDelivery = z
  .strictObject({
    id: id.describe('Delivery id; GET /v1/webhook_deliveries/{id} shows every attempt.'),
    endpoint_id: id.nullable().describe("The endpoint it goes to. Null: the call's own `webhook_url`."),
    receiver: z
      .string()
      .describe('Where it is sent: the URL without user, query and fragment, which may hold secrets.'),
    status: z
      .enum(['pending', 'delivered', 'exhausted'])
      .describe('`pending`: more attempts follow. `delivered`: a 2xx came. `exhausted`: given up.'),
    attempt_count: z
      .int()
      .describe('Attempts made so far, over its whole life: sending it again does not set it back.'),
    last_response_status: z
      .int()
      .nullable()
      .describe('HTTP status of the last attempt. Null: no attempt yet, or no answer came.'),
    last_error: z.string().nullable().describe("As in the delivery's `last_error`. Null: nothing is wrong."),
    next_attempt_at: time.nullable().describe('When the next attempt is due. Null: none follows.'),
    delivered_at: time.nullable().describe('When it was delivered. Null: not so far.'),
  })
  .meta({ id: 'CallEventDelivery', description: 'An event of a call on its way to one receiver.' });

const callEvent = z
  .strictObject({
    id: id.describe('Event id.'),
    type: z.enum(EVENT_TYPES).describe('Event type.'),
    sequence: z.int().describe('Counts the events of the call from 1, without a gap.'),
    created_at: time.describe('When it happened.'),
    deliveries: z.array(eventDelivery).describe('To whom it was sent, in the order in which they were made.'),
  })
  .meta({ id: 'CallEvent', description: 'One event of a call, with its deliveries.' });

export const callEvents = z
  .strictObject({
    call_id: id.describe('The call.'),
    data: z.array(callEvent).describe('In order.'),
  })
  .meta({
    id: 'CallEvents',
    description: 'What happened to a call, and who was told.',
    examples: [CALL_EVENTS],
  });
