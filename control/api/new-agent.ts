// The record of an agent as a request describes it, whatever becomes of it: one that is created, or a draft that is only tried.
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { SpeechModels } from '../../bridge/calls/call-plan.ts';
import { modelSetupOf } from '../../bridge/setups.ts';
import type { Config } from '../../config.ts';
import { AppError } from '../../errors.ts';
import type { AgentDisclosure, AgentRecord, AgentType, Tool } from '../../storage/records.ts';
import { parseReturns } from '../agents/returns-schema.ts';
import { keepMasked, parseTools, toolUrls } from '../agents/tools.ts';
import type { Egress } from '../egress/egress.ts';
import type { draftAgent } from './agent-schemas.ts';
import { DEFAULT_VOICE, voiceOf } from './agent-voice.ts';

/** Checks every URL that an agent makes the daemon call. @throws AppError invalid_url, blocked_address */
export function checkAgentUrls(
  egress: Pick<Egress, 'check'>,
  agent: { webhook_url?: string | null | undefined; tools?: readonly Tool[] | null | undefined },
): void {
  if (agent.webhook_url != null) egress.check(agent.webhook_url, 'webhook_url');
  for (const { url, param } of toolUrls(agent.tools ?? null)) egress.check(url, param);
}

/** A name that may be given to an agent. @throws AppError invalid_model */
export function knownModel(models: SpeechModels, name: string | null): string | null {
  if (name === null || models.access(name) !== null) return name;
  throw new AppError('invalid_model', `model must be one of ${models.names.join(', ')}, or null.`, {
    param: 'model',
  });
}

/** The voice of an agent with this model; of one that is not configured any more nothing is known. @throws AppError invalid_voice */
export function knownVoice(models: SpeechModels, model: string | null, wanted: string | undefined): string {
  const access = models.access(model ?? models.defaultName);
  if (access === null) return wanted ?? DEFAULT_VOICE;
  return voiceOf(modelSetupOf(access.kind), wanted);
}

/** What an agent says before all else where nothing is chosen. */
export function defaultDisclosure(
  type: AgentType,
  { OUTBOUND_DISCLOSURE }: Pick<Config, 'OUTBOUND_DISCLOSURE'>,
): AgentDisclosure {
  return { mode: type === 'outbound' ? OUTBOUND_DISCLOSURE : 'off', text: null };
}

/**
 * What `body` describes, each field that it leaves out at its default.
 * @param o.userId whoever asked: the id of the key, or of the operator
 * @param o.storedTools of the agent that a draft is of: a masked header keeps the value that it has there
 * @throws AppError invalid_model, invalid_voice, invalid_returns, invalid_tool, invalid_url, blocked_address
 */
export function newAgent(
  parts: {
    egress: Pick<Egress, 'check'>;
    models: SpeechModels;
    config: Pick<Config, 'OUTBOUND_DISCLOSURE'>;
    orgId: string;
    now: Date;
  },
  body: z.output<typeof draftAgent>,
  o: { userId: string; primary: string | null; storedTools?: readonly Tool[] | null },
): AgentRecord {
  const at = parts.now.toISOString();
  const agent: AgentRecord = {
    id: uuidv7(),
    org_id: parts.orgId,
    // Whoever holds the key is the user; the API knows no finer identity.
    user_id: o.userId,
    name: body.name,
    type: body.type,
    persona: body.persona ?? null,
    instructions: body.instructions ?? null,
    model: knownModel(parts.models, body.model ?? null),
    voice: knownVoice(parts.models, body.model ?? null, body.voice),
    language: body.language ?? null,
    returns: parseReturns(body.returns),
    tools: keepMasked(parseTools(body.tools), o.storedTools ?? null),
    webhook_url: body.webhook_url ?? null,
    voicemail_action: body.voicemail_action ?? 'hangup',
    interruption_words: body.interruption_words ?? [],
    patience: body.patience ?? 'normal',
    eagerness: body.eagerness ?? 'normal',
    interruption: body.interruption ?? 'normal',
    summarize: body.summarize ?? false,
    mask: body.mask ?? [],
    consent: body.consent ?? 'none',
    disclosure: body.disclosure ?? defaultDisclosure(body.type, parts.config),
    primary_number_id: o.primary,
    archived_at: null,
    created_at: at,
    updated_at: at,
  };
  checkAgentUrls(parts.egress, agent);
  return agent;
}
