// What the route of the speech models answers, with what the reference says of each field. PURE.
import { z } from 'zod';
import { SPEECH_MODEL } from './examples.ts';

const audioFormat = z.strictObject({
  encoding: z.enum(['mulaw', 'alaw', 'pcm16']).describe("G.711's two laws, or linear samples of 16 bits."),
  rate_hz: z.int().describe('Samples a second.'),
});

const capabilities = z.strictObject({
  truncates: z
    .boolean()
    .describe('What was not heard of an interrupted answer is taken out of what the model believes it said.'),
  says_lines: z.boolean().describe('It speaks a given line word for word; else it is asked to.'),
  calls_tools: z.boolean().describe('It calls tools while it talks.'),
});

const speechModel = z
  .strictObject({
    name: z.string().describe("What an agent's `model` names."),
    is_default: z
      .boolean()
      .describe('It leads the calls of agents whose `model` is null. One of the list is.'),
    kind: z
      .string()
      .describe('How it is spoken to: models of one kind have the same voices, formats and capabilities.'),
    model: z.string().describe('What its own server calls it.'),
    voices: z.array(z.string()).describe("What an agent's `voice` is among."),
    default_voice: z.string().describe('The voice of agents that name none.'),
    audio_formats: z
      .array(audioFormat)
      .describe(
        'The sound it takes and gives: a line in one of them reaches it as it is, any other converted.',
      ),
    capabilities: capabilities.describe('What it can do by itself.'),
  })
  .meta({
    id: 'SpeechModel',
    description: 'A speech model that agents of this daemon may have.',
    examples: [SPEECH_MODEL],
  });

export const modelList = z.strictObject({
  data: z.array(speechModel).describe('The default first, then in the order of the settings.'),
});
