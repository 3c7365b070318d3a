// What an agent is told on a call, and what is said in its place: worded by the control side (control/agents/texts), sent
// with the plan of the call. Nothing in bridge/ words any of it. PURE.

/** Words for another voice than the model's, which translates nothing. */
export interface SpokenLine {
  text: string;
  /** Of the words (BCP-47). */
  language: string;
}

/** The language in which `closing` is worded: who speaks it, and can say given words, says it as it stands. */
export const WORDED_IN = 'en';

/** Stands in a transcript for words of the caller that could not be made out: the only words in it that nobody said. */
export const UNINTELLIGIBLE = '[unintelligible]';

/** Short words that somebody says while the other one speaks. Compared by bridge/turns/word-meaning.ts. */
export interface ShortWords {
  /** Meaning: go on. Null: nobody knows them in this language, and only what stands in `stops` stops. */
  assents: readonly string[] | null;
  /** Meaning: stop. What stands in both lists is here. */
  stops: readonly string[];
}

/** What a media thread tells the agent of one call, or has said. What stands in braces is put in by `fillIn`. */
export interface TalkTexts {
  /** Told for the first words; null: the other side speaks first. */
  greeting: string | null;
  /** Told when the other side stays silent: the first time, the second time, and the last. */
  idle: readonly string[];
  /** Told at the beep of a voicemail. */
  voicemail: string;
  /** Told when the model is silent or a tool is slow: nothing to think about. */
  moment: string;
  /** Told for its first words on a call that goes on somewhere else: it was cut off. */
  cutOff: string;
  /** Told of the tool {name}, called with {arguments}: it ran when the call was cut off. */
  unfinishedTool: string;
  /** Told when the line was gone for some seconds and is back, and nobody has anything to say. */
  lineBack: string;
  /** Told to a model that cannot take back what it said: only {heard} was heard of it, or nothing. */
  cutShort: string;
  cutUnheard: string;
  /** Told when a single word stopped it, for the answer to that. */
  brokeIn: string;
  /** Told to have {line} said, in whatever language the conversation is. */
  sayLine: string;
  /** Told to have {line} said as it stands, before all else. */
  disclose: string;
  /** Told when {keys} were pressed, in the other side's place. */
  keysPressed: string;
  /** What the transcript says of {keys}. */
  keysNote: string;
  /** Said to the other side in the carrier's own voice, when the agent is lost. */
  apology: SpokenLine;
  /** What a tool that has not run answers. */
  refused: {
    unknownTool: string;
    unknownTarget: string;
    wrongKeys: string;
    /** Another tool is about to take the line out of the talk. */
    lineLeaves: string;
    timedOut: string;
  };
}

/** What a model's session tells by itself. */
export interface SessionTexts {
  /** Told with the first response of a session that replaced a lost one. */
  resumed: string;
  /** What the caller's words are told as when they are not known. */
  unintelligible: string;
}

/** What the control side tells an agent during a call. */
export interface LineTexts {
  /** What the agent says before the call is ended from outside. */
  closing: string;
  /** Said to who asked not to be called again, once that is noted, as the last words. @param language null: the other side's decides */
  optedOut(language: string | null): string;
  /** What a tool answers that the carrier could not do now. */
  refused: string;
  /** What it answers where the call's carrier can never do it. */
  notPossible: { digits: string; transfer: string };
  /** What a transfer answers that did not come about, by why it did not. */
  transferFailed: { busy: string; no_answer: string; failed: string; unknown: string };
}

/** A text with its places filled in, all in one pass: a value that looks like a place stays what it is. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : place,
  );
}
