// PURE. TwiML text -> a list of verbs, strictly: what the carrier would refuse is refused with the carrier's code.
// https://www.twilio.com/docs/voice/twiml
import { XMLParser, XMLValidator } from 'fast-xml-parser';

export interface StreamNoun {
  url: string;
  name: string;
  track: 'inbound_track' | 'outbound_track' | 'both_tracks';
  statusCallback: string;
  statusCallbackMethod: 'GET' | 'POST';
  parameters: Record<string, string>;
}
export interface NumberNoun {
  number: string;
  url: string;
  method: 'GET' | 'POST';
  sendDigits: string;
  statusCallback: string;
  statusCallbackMethod: 'GET' | 'POST';
  statusCallbackEvents: string[];
}
export type Verb =
  | { verb: 'Say'; text: string; loop: number }
  | { verb: 'Play'; url: string; digits: string; loop: number }
  | { verb: 'Pause'; seconds: number }
  | { verb: 'Connect'; action: string; method: 'GET' | 'POST'; stream: StreamNoun }
  | { verb: 'Start'; stream: StreamNoun }
  | { verb: 'Stop'; name: string }
  | {
      verb: 'Dial';
      action: string;
      method: 'GET' | 'POST';
      timeoutSeconds: number;
      timeLimitSeconds: number;
      callerId: string;
      answerOnBridge: boolean;
      numbers: NumberNoun[];
    }
  | { verb: 'Hangup' }
  | { verb: 'Reject'; reason: 'rejected' | 'busy' }
  | { verb: 'Redirect'; url: string; method: 'GET' | 'POST' };

export interface Warning {
  code: number;
  message: string;
}
export interface Document {
  verbs: Verb[];
  warnings: Warning[];
}

/** The document cannot be run. */
export class TwimlError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'TwimlError';
    this.code = code;
  }
}

interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

const MAX_BYTES = 64 * 1024;
/** Name and value of a Parameter together must stay below this. */
const PARAMETER_CHARACTERS = 500;

const ATTRIBUTES: Record<string, string[]> = {
  Say: ['voice', 'language', 'loop'],
  Play: ['loop', 'digits'],
  Pause: ['length'],
  Connect: ['action', 'method'],
  Start: ['action', 'method'],
  Stop: [],
  Stream: ['url', 'name', 'track', 'statusCallback', 'statusCallbackMethod', 'connectorName'],
  Parameter: ['name', 'value'],
  Dial: [
    ...['action', 'method', 'timeout', 'timeLimit', 'callerId', 'answerOnBridge', 'hangupOnStar', 'record'],
    ...['recordingStatusCallback', 'recordingStatusCallbackMethod', 'recordingStatusCallbackEvent'],
    ...['recordingTrack', 'trim', 'ringTone', 'sequential', 'referUrl', 'referMethod', 'events'],
  ],
  Number: [
    ...[
      'url',
      'method',
      'sendDigits',
      'statusCallback',
      'statusCallbackMethod',
      'statusCallbackEvent',
      'byoc',
    ],
    ...['machineDetection', 'machineDetectionTimeout', 'machineDetectionSpeechThreshold'],
    ...['machineDetectionSpeechEndThreshold', 'machineDetectionSilenceTimeout'],
    ...['amdStatusCallback', 'amdStatusCallbackMethod'],
  ],
  Hangup: [],
  Reject: ['reason'],
  Redirect: ['method'],
};

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  trimValues: true,
});

/** @throws TwimlError 12100 (no XML), 12102/12200 (no TwiML), 11750 (too long) */
export function parseTwiml(xml: string): Document {
  if (Buffer.byteLength(xml) > MAX_BYTES) throw new TwimlError(11750, 'Response body too large');
  if (xml.trim() === '') throw new TwimlError(12100, 'Document parse failure: empty body');
  const valid = XMLValidator.validate(xml);
  if (valid !== true) throw new TwimlError(12100, `Document parse failure: ${valid.err.msg}`);
  const roots = elements(parser.parse(xml));
  const root = roots[0];
  if (roots.length !== 1 || root?.name !== 'Response') {
    throw new TwimlError(12100, 'Document parse failure: the root element must be <Response>');
  }
  const warnings: Warning[] = [];
  if (root.text) warnings.push({ code: 12200, message: 'text directly inside <Response>' });
  const verbs = root.children.flatMap((element) => verbOf(element, warnings) ?? []);
  return { verbs, warnings };
}

function elements(nodes: unknown): Element[] {
  if (!Array.isArray(nodes)) return [];
  return nodes.flatMap((node: Record<string, unknown>) => {
    const name = Object.keys(node).find((key) => key !== ':@');
    if (name === undefined || name === '#text') return [];
    const children = node[name];
    const text = Array.isArray(children)
      ? children.map((child: Record<string, unknown>) => child['#text'] ?? '').join('')
      : '';
    const attributes = (node[':@'] ?? {}) as Record<string, string>;
    return [{ name, attributes, children: elements(children), text: text.trim() }];
  });
}

function verbOf(element: Element, warnings: Warning[]): Verb | null {
  const { name, attributes: a, text } = element;
  const known = ATTRIBUTES[name];
  if (!known || name === 'Stream' || name === 'Parameter' || name === 'Number') {
    warnings.push({ code: 12200, message: `<${name}> is not a verb here` });
    return null;
  }
  checkAttributes(element, warnings);
  switch (name) {
    case 'Say':
      if (!text) warnings.push({ code: 13520, message: 'Say: no text' });
      return { verb: 'Say', text, loop: numberOf(a.loop, 1) };
    case 'Play':
      return { verb: 'Play', url: text, digits: a.digits ?? '', loop: numberOf(a.loop, 1) };
    case 'Pause':
      return { verb: 'Pause', seconds: numberOf(a.length, 1) };
    case 'Connect': {
      const stream = streamOf(element, warnings);
      if (!stream) throw new TwimlError(12200, 'Connect needs a Stream');
      if (stream.track !== 'inbound_track') {
        throw new TwimlError(31941, 'Stream: Connect allows only inbound_track');
      }
      return { verb: 'Connect', action: a.action ?? '', method: methodOf(a.method), stream };
    }
    case 'Start': {
      const stream = streamOf(element, warnings);
      if (!stream) throw new TwimlError(12200, 'Start needs a Stream');
      return { verb: 'Start', stream };
    }
    case 'Stop':
      return { verb: 'Stop', name: element.children[0]?.attributes.name ?? '' };
    case 'Dial':
      return {
        verb: 'Dial',
        action: a.action ?? '',
        method: methodOf(a.method),
        timeoutSeconds: numberOf(a.timeout, 30),
        timeLimitSeconds: numberOf(a.timeLimit, 14_400),
        callerId: a.callerId ?? '',
        answerOnBridge: a.answerOnBridge === 'true',
        numbers: numbersOf(element, warnings),
      };
    case 'Hangup':
      return { verb: 'Hangup' };
    case 'Reject': {
      const reason = a.reason ?? 'rejected';
      if (reason !== 'rejected' && reason !== 'busy') throw new TwimlError(13510, 'Reject: invalid reason');
      return { verb: 'Reject', reason };
    }
    case 'Redirect':
      return { verb: 'Redirect', url: text, method: methodOf(a.method) };
    default:
      return null;
  }
}

function checkAttributes(element: Element, warnings: Warning[]): void {
  const known = ATTRIBUTES[element.name] ?? [];
  for (const attribute of Object.keys(element.attributes)) {
    if (!known.includes(attribute)) {
      warnings.push({ code: 12200, message: `<${element.name}> has no attribute ${attribute}` });
    }
  }
}

function streamOf(parent: Element, warnings: Warning[]): StreamNoun | null {
  const element = parent.children.find((child) => child.name === 'Stream');
  if (!element) return null;
  if (parent.children.length > 1) warnings.push({ code: 12200, message: 'only one Stream may stand here' });
  checkAttributes(element, warnings);
  const a = element.attributes;
  const track = a.track ?? 'inbound_track';
  if (track !== 'inbound_track' && track !== 'outbound_track' && track !== 'both_tracks') {
    throw new TwimlError(31941, `Stream: invalid track ${track}`);
  }
  const parameters: Record<string, string> = {};
  for (const child of element.children) {
    const { name, value } = child.attributes;
    if (child.name !== 'Parameter' || name === undefined || value === undefined) {
      warnings.push({ code: 12200, message: `<${child.name}> is no Parameter with name and value` });
    } else if (name.length + value.length >= PARAMETER_CHARACTERS) {
      warnings.push({ code: 12200, message: `Parameter ${name}: 500 characters or more` });
    } else {
      parameters[name] = value;
    }
  }
  return {
    url: a.url ?? '',
    name: a.name ?? '',
    track,
    statusCallback: a.statusCallback ?? '',
    statusCallbackMethod: methodOf(a.statusCallbackMethod),
    parameters,
  };
}

function numbersOf(dial: Element, warnings: Warning[]): NumberNoun[] {
  const numbers = dial.children.flatMap((child): NumberNoun[] => {
    if (child.name !== 'Number') {
      warnings.push({ code: 12200, message: `<Dial><${child.name}> is not modelled` });
      return [];
    }
    checkAttributes(child, warnings);
    const a = child.attributes;
    const events = (a.statusCallbackEvent ?? 'completed').split(/\s+/);
    return [
      {
        number: child.text,
        url: a.url ?? '',
        method: methodOf(a.method),
        sendDigits: a.sendDigits ?? '',
        statusCallback: a.statusCallback ?? '',
        statusCallbackMethod: methodOf(a.statusCallbackMethod),
        statusCallbackEvents: events,
      },
    ];
  });
  if (numbers.length > 0 || !dial.text) return numbers;
  return [
    {
      number: dial.text,
      url: '',
      method: 'POST',
      sendDigits: '',
      statusCallback: '',
      statusCallbackMethod: 'POST',
      statusCallbackEvents: ['completed'],
    },
  ];
}

function methodOf(value: string | undefined): 'GET' | 'POST' {
  return value?.toUpperCase() === 'GET' ? 'GET' : 'POST';
}

function numberOf(value: string | undefined, fallback: number): number {
  const number = Number(value ?? fallback);
  return Number.isFinite(number) && number >= 0 ? number : fallback;
}
