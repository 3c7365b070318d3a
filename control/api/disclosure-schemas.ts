// What the routes take and answer of the line that is said before all else, with what the reference says of each field. PURE.
import { z } from 'zod';
import { AGENT, CALL } from './examples.ts';

const MOST_LINE = 400;

const disclosureMode = z
  .enum(['standard', 'custom', 'off'])
  .describe(
    '`standard`: that an AI calls and for whom, in our words; `custom`: `text`; `off`: nothing of the kind.',
  );

const newDisclosure = z
  .strictObject({
    mode: disclosureMode,
    text: z
      .string()
      .trim()
      .min(1, 'may not be empty')
      .max(MOST_LINE, `may have ${MOST_LINE} characters at most`)
      .refine((line) => !/\p{Cc}/u.test(line), 'may have no control characters or line breaks')
      .nullable()
      .default(null)
      .describe(
        'The line of `custom`, in the language of the calls; `{organization}` stands for the name that is spoken of yours. Null or left out with the others.',
      ),
  })
  .refine(({ mode, text }) => (mode === 'custom') === (text !== null), {
    message: 'needs a text with mode custom, and takes none with the others',
    path: ['text'],
  })
  .meta({
    id: 'NewDisclosure',
    description:
      'What is said before all else, before the greeting and before a message: nothing interrupts it, and the call tells how much of it was heard. Where calls are recorded and the notice is on, that is said with it in any case.',
    examples: [
      { mode: 'custom', text: 'Hello, this is the digital assistant of {organization}, a computer.' },
    ],
  });

/** As answers have it. */
export const disclosure = z
  .strictObject({
    mode: disclosureMode,
    text: z.string().nullable().describe('The line of `custom`. Null with the others.'),
  })
  .meta({
    id: 'Disclosure',
    description: 'What is said before all else.',
    examples: [AGENT.disclosure],
  });

const whatWasHeard = z
  .strictObject({
    text: z.string().describe('The line, as it was to be said.'),
    heard_text: z
      .string()
      .describe('The words of it that were heard, by what the carrier says it has played.'),
    heard_ms: z.number().describe('For so many milliseconds it was heard.'),
    started_ms: z
      .number()
      .nullable()
      .describe(
        "When it began to be said, in milliseconds since the media stream's start. Null: it did not.",
      ),
    ended_ms: z
      .number()
      .nullable()
      .describe('When its end was heard, or it was cut off. Null: not yet, or whoever said it has died.'),
    complete: z.boolean().describe('All of it was heard, word for word.'),
  })
  .meta({
    id: 'CallDisclosure',
    description:
      'The line that is said before all else. Of one that had to be begun again (for a message, or because the call was cut off) the last that was heard.',
    examples: [CALL.disclosure],
  });

/** What became of it on a call. */
export const callDisclosure = whatWasHeard
  .nullable()
  .describe('What was to be said before all else, and how much of it was heard. Null: nothing was.');

/** Of an agent, in requests. */
export const disclosureOfAgent = newDisclosure
  .nullable()
  .optional()
  .describe(
    'What it says before all else. Null or left out: `standard` for an outbound agent (unless the daemon has `OUTBOUND_DISCLOSURE=off`), `off` for an inbound one.',
  );

/** Of a call without an agent. */
export const disclosureOfPrompt = newDisclosure
  .nullable()
  .optional()
  .describe(
    'What is said before all else. Null or left out: `standard`, unless the daemon has `OUTBOUND_DISCLOSURE=off`.',
  );

const asked = z
  .strictObject({
    at_ms: z.number().describe("When, in milliseconds since the media stream's start."),
    text: z.string().describe('What was said; where the tool was used, the last words before it.'),
    by: z
      .enum(['words', 'tool'])
      .describe('`words`: they were plain; `tool`: the agent understood it so, and used the tool for it.'),
  })
  .meta({
    id: 'OptedOut',
    description: 'The other side asked not to be called again. Its number is on the do-not-call list.',
    examples: [{ at_ms: 12_480, text: 'Please do not call me again.', by: 'words' }],
  });

/** On a call. */
export const optedOut = asked
  .nullable()
  .describe('The other side asked not to be called again. Null: it did not.');
