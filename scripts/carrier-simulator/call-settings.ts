// PURE types. What a call was asked to be, and how it can end.
import type { AmdParameters } from './amd.ts';
import type { CalleeScript } from './options.ts';

export type CallStatus =
  | 'queued'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'failed'
  | 'no-answer'
  | 'canceled';
export type ProgressEvent = 'initiated' | 'ringing' | 'answered' | 'completed';
export type EndedBy = 'callee' | 'application' | 'carrier' | 'document';

export interface CallSettings {
  url: string;
  method: 'GET' | 'POST';
  twiml: string;
  fallbackUrl: string;
  fallbackMethod: 'GET' | 'POST';
  statusCallback: string;
  statusCallbackMethod: 'GET' | 'POST';
  statusCallbackEvents: ProgressEvent[];
  ringSeconds: number;
  limitSeconds: number;
  amd: AmdParameters | null;
  asyncAmd: boolean;
  amdCallback: string;
  amdCallbackMethod: 'GET' | 'POST';
  sendDigits: string;
}

export const NO_SETTINGS: CallSettings = {
  url: '',
  method: 'POST',
  twiml: '',
  fallbackUrl: '',
  fallbackMethod: 'POST',
  statusCallback: '',
  statusCallbackMethod: 'POST',
  statusCallbackEvents: ['completed'],
  ringSeconds: 60,
  limitSeconds: 14_400,
  amd: null,
  asyncAmd: false,
  amdCallback: '',
  amdCallbackMethod: 'POST',
  sendDigits: '',
};

export interface CallOptions {
  direction: 'inbound' | 'outbound-api' | 'outbound-dial';
  to: string;
  from: string;
  parentSid?: string;
  callee: CalleeScript;
  settings: CallSettings;
}
export interface Ending {
  status: Exclude<CallStatus, 'queued' | 'ringing' | 'in-progress'>;
  by: EndedBy;
  why: string;
  sip?: number;
}
