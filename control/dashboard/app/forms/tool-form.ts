// An agent's tools as forms have them, and back to what the API takes. PURE.
// Every field is kept as it was typed, so that nothing vanishes while it is wrong; the daemon has the last word.
import { readJson } from './json-text.ts';
import { type ParameterRow, parameterFaults, parameterRowsOf } from './parameters-table.ts';
import { ofValue, type TableText } from './table-text.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

export interface HeaderRow {
  name: string;
  value: string;
}

export interface HttpToolForm {
  type: 'http';
  name: string;
  description: string;
  /** The JSON Schema of what the agent fills in. */
  parameters: TableText<ParameterRow>;
  url: string;
  method: Method;
  headers: HeaderRow[];
  timeoutMs: string;
  speakFirst: string;
}

export interface TransferForm {
  type: 'transfer_call';
  targets: { name: string; number: string }[];
}

export type ToolForm = HttpToolForm | TransferForm | { type: 'send_dtmf' } | { type: 'end_call' };

const NO_PARAMETERS = { type: 'object', properties: {} };
const DEFAULT_TIMEOUT_MS = 10_000;
const SECRET_NAME = /auth|key|token|secret|password|cookie|signature|credential/i;

export function newHttpTool(): HttpToolForm {
  return {
    type: 'http',
    name: '',
    description: '',
    parameters: ofValue(NO_PARAMETERS, parameterRowsOf),
    url: '',
    method: 'POST',
    headers: [],
    timeoutMs: '',
    speakFirst: '',
  };
}

/** What the daemon tells in the place of a header's value; given back, the value stays. */
const MASK = '********';

/** True of a header whose value is shown only when asked: it opens something, and is here to be shown. */
export function isSecretHeader({ name, value }: HeaderRow): boolean {
  return SECRET_NAME.test(name) && value !== MASK;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The forms of tools as an agent has them. Whatever is no known tool is left out: the API knows no others. */
export function toolFormsOf(tools: readonly unknown[] | null): ToolForm[] {
  return (tools ?? []).flatMap((given): ToolForm[] => {
    if (!isObject(given)) return [];
    switch (given.type) {
      case 'http':
        return [
          {
            type: 'http',
            name: text(given.name),
            description: text(given.description),
            parameters: ofValue(given.parameters ?? NO_PARAMETERS, parameterRowsOf),
            url: text(given.url),
            method: METHODS.find((method) => method === given.method) ?? 'POST',
            headers: Object.entries(isObject(given.headers) ? given.headers : {}).map(([name, value]) => ({
              name,
              value: text(value),
            })),
            timeoutMs: given.timeout_ms === undefined ? '' : String(given.timeout_ms),
            speakFirst: text(given.speak_first),
          },
        ];
      case 'transfer_call':
        return [
          {
            type: 'transfer_call',
            targets: (Array.isArray(given.targets) ? given.targets : []).map((target: unknown) => ({
              name: isObject(target) ? text(target.name) : '',
              number: isObject(target) ? text(target.number) : '',
            })),
          },
        ];
      case 'send_dtmf':
        return [{ type: 'send_dtmf' }];
      case 'end_call':
        return [{ type: 'end_call' }];
      default:
        return [];
    }
  });
}

export interface ToolFault {
  /** As the API would name the place: `tools[0].url`. */
  param: string;
  message: string;
}

/** `+1 (415) 555-0100` as E.164 has it. */
export function plainNumber(typed: string): string {
  return typed.replace(/[\s().\-/]/g, '');
}

export function isE164(number: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(number);
}

function faultsOfHttp(tool: HttpToolForm, at: string): ToolFault[] {
  const faults: ToolFault[] = [];
  const say = (field: string, message: string) => faults.push({ param: `${at}.${field}`, message });
  if (tool.name === '') say('name', 'Give the tool a name: look_up_order.');
  else if (!/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
    say('name', 'Use letters, digits, _ and - only, 64 at most: look_up_order.');
  } else if (['end_call', 'transfer_call', 'send_dtmf'].includes(tool.name)) {
    say('name', 'This is the name of a built-in tool; choose another.');
  }
  if (tool.description.trim() === '') {
    say('description', 'Tell the agent what the tool does and when to use it.');
  }
  const { problem, rows } = tool.parameters;
  // What only the table cannot show is no fault: the daemon may well take it.
  if (problem?.kind === 'json') say('parameters', problem.message);
  const row = problem === null ? parameterFaults(rows)[0] : undefined;
  if (row !== undefined) say('parameters', `Row ${row.row + 1}: ${row.message}`);
  if (tool.url.trim() === '') say('url', 'Say where the tool’s request goes: https://…');
  else if (/[{}]/.test(tool.url)) {
    say('url', 'No placeholders: arguments go to the query string of GET and DELETE, else to the JSON body.');
  } else if (!URL.canParse(tool.url.trim()))
    say('url', 'This is no URL; write it in full: https://example.com/orders');
  if (tool.timeoutMs.trim() !== '') {
    const ms = Number(tool.timeoutMs);
    if (!Number.isInteger(ms) || ms < 100 || ms > 20_000) {
      say('timeout_ms', 'A whole number of milliseconds from 100 to 20000.');
    }
  }
  const seen = new Set<string>();
  for (const header of tool.headers) {
    const name = header.name.trim().toLowerCase();
    if (name === '' && header.value === '') continue;
    if (name === '') say('headers', 'A header has a value but no name.');
    else if (seen.has(name)) say('headers', `${header.name.trim()} is there twice.`);
    seen.add(name);
  }
  return faults;
}

/** What is wrong with the tools, each at the place the API would name. */
export function toolFaults(tools: readonly ToolForm[]): ToolFault[] {
  const faults: ToolFault[] = [];
  const seen = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`;
    if (tool.type === 'http') faults.push(...faultsOfHttp(tool, at));
    if (tool.type === 'transfer_call') {
      if (tool.targets.length === 0) {
        faults.push({ param: `${at}.targets`, message: 'Name at least one person or team to hand over to.' });
      }
      for (const [row, target] of tool.targets.entries()) {
        if (target.name.trim() === '') {
          faults.push({ param: `${at}.targets[${row}].name`, message: 'Say who this is: Reception.' });
        }
        if (!isE164(plainNumber(target.number))) {
          faults.push({
            param: `${at}.targets[${row}].number`,
            message: 'A number with its country code: +14155550123.',
          });
        }
      }
    }
    const name = tool.type === 'http' ? tool.name : tool.type;
    if (name !== '' && seen.has(name)) {
      faults.push({
        param: tool.type === 'http' ? `${at}.name` : at,
        message: tool.type === 'http' ? 'Another tool has this name.' : 'It is there already.',
      });
    }
    seen.add(name);
  }
  return faults;
}

function httpTool(tool: HttpToolForm): Record<string, unknown> {
  const parameters = readJson(tool.parameters.text);
  const headers = tool.headers.filter((header) => header.name.trim() !== '');
  return {
    type: 'http',
    name: tool.name,
    description: tool.description.trim(),
    parameters: parameters.ok ? parameters.value : NO_PARAMETERS,
    url: tool.url.trim(),
    method: tool.method,
    ...(headers.length === 0
      ? {}
      : { headers: Object.fromEntries(headers.map((header) => [header.name.trim(), header.value])) }),
    timeout_ms: tool.timeoutMs.trim() === '' ? DEFAULT_TIMEOUT_MS : Number(tool.timeoutMs),
    ...(tool.speakFirst.trim() === '' ? {} : { speak_first: tool.speakFirst.trim() }),
  };
}

/** What the API takes for these forms; null for none. Ask toolFaults first. */
export function toolsOf(forms: readonly ToolForm[]): Record<string, unknown>[] | null {
  if (forms.length === 0) return null;
  return forms.map((tool) => {
    if (tool.type === 'http') return httpTool(tool);
    if (tool.type === 'transfer_call') {
      return {
        type: 'transfer_call',
        targets: tool.targets.map((target) => ({
          name: target.name.trim(),
          number: plainNumber(target.number),
        })),
      };
    }
    return { type: tool.type };
  });
}
