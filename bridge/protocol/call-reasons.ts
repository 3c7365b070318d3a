// Our own words in a call's hangup_cause and error_code, each with what it means. PURE. The types are made from the lists,
// so that nothing can be written that is not in them. What a carrier says in these fields is never one of ours: Twilio's
// codes are digits, its causes `SIP ` and digits.

/** Why a call ended, in `hangup_cause`. */
export const HANGUP_CAUSES = {
  remote_hangup: 'The other side hung up, or the carrier ended a connected call without saying why.',
  agent_ended: 'The agent said goodbye and hung up.',
  caller_silent: 'The other side said nothing for too long.',
  voicemail: 'A voicemail answered; `voicemail_action` says whether it was left a message.',
  fax: 'A fax machine answered.',
  transferred: 'The call was handed over to another number.',
  transfer_failed: 'The call could not be handed over, and the agent could not take it back.',
  hangup_requested: 'POST /v1/calls/{id}/hangup, or the dashboard.',
  canceled: 'It was canceled before it was answered.',
  no_answer: 'Nobody answered in time.',
  busy: 'The line was busy, and the carrier gave no closer cause.',
  failed: 'The carrier could not connect it, and gave no closer cause.',
  refused_by_carrier: 'The carrier did not take the call; `error_code` has its reason.',
  max_duration: 'The longest time that a call may take was over.',
  credit_exhausted: 'The organization’s credit was used up.',
  draining: 'The service was being stopped.',
  stream_lost: 'The audio of the call was lost while the line was up.',
  stream_ended: 'The audio had ended, and the carrier never told of the end.',
  media_timeout: 'The carrier sent no audio for too long.',
  carrier_backpressure: 'The carrier no longer took the audio it was sent.',
  model_failed: 'The speech model was lost, refused, or could not be reached; `error_code` says which.',
  model_silent: 'The speech model did not answer in time.',
  stalled:
    'Neither side was heard for longer than anything may take, or the service said nothing more of the call.',
  thread_lost: 'A part of the service that carries audio broke down.',
  daemon_restart: 'The service was started again during the call.',
  daemon_stopped: 'The service was stopped during the call, without waiting for its end.',
  daemon_crashed: 'The service broke down during the call, in a version in which that ended it.',
} as const;

/** What failed, in `error_code`. */
export const FAULT_CODES = {
  model_unreachable: 'The speech model could not be reached.',
  model_refused: 'The speech model refused: the key, the model’s name, a limit of its account.',
  model_lost: 'The connection to the speech model was lost and could not be made again.',
  model_error: 'The speech model broke down or gave no usable answer.',
  model_silent: 'The speech model did not answer in time.',
  stream_never_started: 'The carrier never sent the audio of the call.',
  stream_lost: 'The audio of the call was lost while the line was up.',
  media_timeout: 'The carrier sent no audio for too long.',
  carrier_backpressure: 'The carrier no longer took the audio it was sent.',
  call_stalled: 'Neither side was heard for longer than anything may take.',
  media_silent: 'The part of the service that carries the audio said nothing more of the call.',
  media_thread_lost: 'A part of the service that carries audio broke down.',
  daemon_restart: 'The service was started again during the call.',
  daemon_stopped: 'The service was stopped during the call, without waiting for its end.',
  daemon_crashed: 'The service broke down during the call, in a version in which that ended it.',
  carrier_failed: 'The carrier could not connect the call or lost it, and gave no code.',
  no_answer_from_carrier: 'The carrier did not answer, so it is not known what it has done.',
  not_possible: 'The carrier of this call cannot do this.',
} as const;

export type HangupCause = keyof typeof HANGUP_CAUSES;
export type FaultCode = keyof typeof FAULT_CODES;
export interface Fault {
  code: FaultCode;
  message: string;
}
