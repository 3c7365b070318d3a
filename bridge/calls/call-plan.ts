// From a call's record to what its media thread must know, and the texts that the bridge itself needs. PURE.
import type { CallRecord } from '../../storage/records.ts';
import type { Carrier } from '../carriers/carrier.ts';
import type { StreamPath } from '../carriers/media.ts';
import type { ModelTool } from '../models/model.ts';
import type { ModelAccess } from '../models/setup.ts';
import type { LineTexts, SessionTexts, ShortWords, TalkTexts } from '../protocol/agent-texts.ts';
import type { MachinePlan, PrepareCall, Resumed } from '../protocol/messages.ts';

/** What agents are told on their calls; control/agents words it. */
export interface AgentTexts {
  /** @param language as asked for; null: the other side's decides */
  talk(direction: 'inbound' | 'outbound', language: string | null): TalkTexts;
  /** @param more stop this agent, beside what does so in the language */
  shortWords(language: string | null, more: readonly string[]): ShortWords;
  session: SessionTexts;
  line: LineTexts;
  /** @param o.optOut the other side has a number, and may ask that it is not called again */
  modelTools(tools: CallRecord['tools'], o?: { optOut?: boolean }): ModelTool[];
}

/** The speech models that the daemon is configured with, by name. */
export interface SpeechModels {
  /** The one of agents that name none. */
  readonly defaultName: string;
  /** The default first. */
  readonly names: readonly string[];
  /** How a model is reached; null for a name that is not configured. */
  access(name: string): ModelAccess | null;
  /** Keys that the file holds: no log may. */
  readonly secrets: readonly string[];
}

/** Everything a media thread needs of a call. */
export function planCall(
  call: CallRecord,
  o: {
    tokenHash: string;
    machine: MachinePlan;
    patience: number;
    texts: AgentTexts;
    access: ModelAccess;
    recordingPath: string | null;
    resumed: Resumed | null;
    maxSeconds: number;
    /** The language as asked for; null lets the model find out. */
    language: string | null;
  },
): PrepareCall {
  const transfers = call.tools?.find((tool) => tool.type === 'transfer_call');
  return {
    callId: call.id,
    carrier: call.carrier,
    tokenHash: o.tokenHash,
    direction: call.direction,
    modelName: o.access.kind,
    model: {
      url: o.access.url,
      apiKey: o.access.apiKey,
      model: o.access.model,
      transcriptionModel: o.access.transcriptionModel,
      instructions: call.prompt,
      voice: call.voice,
      language: o.language === null ? null : (o.language.split('-')[0] ?? null),
      tools: o.texts.modelTools(call.tools, { optOut: call.telephone }),
      texts: o.texts.session,
    },
    texts: o.texts.talk(call.direction, o.language),
    // Who heard it before whoever had the call was lost is not told again.
    disclosure:
      o.resumed !== null && call.disclosure?.complete === true ? null : (call.disclosure?.text ?? null),
    mayOptOut: call.telephone,
    shortWords: o.texts.shortWords(o.language, call.interruption_words),
    machine: o.machine,
    patience: o.patience,
    tuning: { patience: call.patience, eagerness: call.eagerness, interruption: call.interruption },
    transferTargets: Object.fromEntries(
      (transfers?.targets ?? []).map((target) => [target.name, target.number]),
    ),
    recordingPath: o.recordingPath,
    maxSeconds: o.maxSeconds,
    resumed: o.resumed,
  };
}

/** Only calls that we place can reach a voicemail box, and only some carriers tell it from a person. */
export function machinePlan(
  call: Pick<CallRecord, 'direction' | 'voicemail_action'>,
  carrier: Carrier,
): MachinePlan {
  const mayReachOne = call.direction === 'outbound' && carrier.capabilities.detectsMachines;
  return mayReachOne ? call.voicemail_action : 'none';
}

/** The path of a call's media stream: its daemon's epoch, its thread there, its carrier and the call. */
export function streamPath({ epoch, thread, carrier, callId }: Omit<StreamPath, 'token'>): string {
  return `/media/${epoch}/${thread}/${carrier}/${callId}`;
}

/** The media address of a call, as the carrier must spell it when it signs. */
export function streamUrl(publicUrl: string, path: string): string {
  return `${publicUrl.replace(/^http/, 'ws')}${path}`;
}

/** When something happened by our clock: callbacks carry whole seconds only, so that a fresh one counts as now. */
export function happenedAt(claimed: string, now: Date, notBefore: string): string {
  const at = Date.parse(claimed);
  const fresh = !Number.isFinite(at) || Math.abs(now.getTime() - at) < 2_500;
  const time = fresh ? now.toISOString() : new Date(at).toISOString();
  return time < notBefore ? notBefore : time;
}
