// What of a call the extraction model is given: whether there was a conversation, and its transcript, quoted line by line. PURE.
import { UNINTELLIGIBLE } from '../../bridge/protocol/agent-texts.ts';
import type { CallRecord, TranscriptItemRecord } from '../../storage/records.ts';
import { quoteData } from './fenced-data.ts';
import { linesLeftOut, NO_CONVERSATION } from './texts/extraction.ts';

const MAX_LINE_LENGTH = 8000;
/** About an hour of dense talk is 60,000; beyond this the middle is left out. */
const MAX_TRANSCRIPT_LENGTH = 300_000;

/** What was heard of an item: what the agent meant to say and nobody heard was not said. */
function wordsOf(item: TranscriptItemRecord): string {
  return (item.role === 'agent' ? item.heard_text : item.text).trim();
}

/** Why a call gives nothing to extract from, in words for a person; null when there was a conversation. */
export function noConversation(
  call: Pick<CallRecord, 'answered_by' | 'hangup_cause'>,
  items: readonly TranscriptItemRecord[],
): string | null {
  if (call.hangup_cause === 'voicemail') return NO_CONVERSATION.voicemail;
  if (call.hangup_cause === 'fax' || call.answered_by === 'fax') {
    return NO_CONVERSATION.fax;
  }
  const spoken = items.filter((item) => !['', UNINTELLIGIBLE].includes(wordsOf(item)));
  // A line of the system notes keys that were pressed: they answer a question as words do.
  const isOtherSide = ({ role }: TranscriptItemRecord) => role === 'caller' || role === 'system';
  if (!spoken.some(isOtherSide)) {
    return items.some((item) => item.role === 'caller')
      ? NO_CONVERSATION.unintelligible
      : NO_CONVERSATION.silence;
  }
  if (call.answered_by === 'machine') {
    // A greeting was written down as the other side's words; only an answer to the agent shows that it was a person after all.
    const agentSpoke = spoken.findIndex((item) => item.role === 'agent');
    if (agentSpoke < 0 || !spoken.slice(agentSpoke + 1).some(isOtherSide)) {
      return NO_CONVERSATION.machine;
    }
  }
  return null;
}

/** The transcript as the extraction model reads it: one numbered line a stretch, the middle left out where it is too long. */
export function transcriptLines(items: readonly TranscriptItemRecord[]): string[] {
  const lines = items
    .filter((item) => wordsOf(item) !== '')
    .map((item, at) => {
      const words = wordsOf(item);
      const shown = words.length > MAX_LINE_LENGTH ? `${words.slice(0, MAX_LINE_LENGTH)} …` : words;
      return `${at + 1} ${item.role}${item.interrupted ? ' [interrupted]' : ''}: ${quoteData(shown)}`;
    });
  let length = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (length <= MAX_TRANSCRIPT_LENGTH) return lines;
  const middle = Math.floor(lines.length / 2);
  let from = middle;
  let to = middle;
  while (length > MAX_TRANSCRIPT_LENGTH && to - from < lines.length) {
    const at = middle - from <= to - middle && from > 0 ? --from : to++;
    length -= (lines[at]?.length ?? 0) + 1;
  }
  return [...lines.slice(0, from), linesLeftOut(to - from), ...lines.slice(to)];
}
