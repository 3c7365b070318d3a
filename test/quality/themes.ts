// PURE. The themes, in the order of their tables. A new one is a file in talks/ and a line here.
import { answerTimes } from './talks/answer-times.ts';
import { backchannels } from './talks/backchannels.ts';
import { beds } from './talks/beds.ts';
import { beeps } from './talks/beeps.ts';
import { interruptions } from './talks/interruptions.ts';
import { longHellos } from './talks/long-hellos.ts';
import { quietCallers } from './talks/quiet-callers.ts';
import { rooms } from './talks/rooms.ts';
import { slowSpeech } from './talks/slow-speech.ts';
import { stopWords } from './talks/stop-words.ts';
import type { Theme } from './talks/theme.ts';

export const THEMES: readonly Theme[] = [
  answerTimes,
  interruptions,
  backchannels,
  stopWords,
  beds,
  rooms,
  slowSpeech,
  quietCallers,
  longHellos,
  beeps,
];
