// The carrier's requests about one call: their parameters, order numbers, delays, duplicates, and what came back.
import type { ProgressEvent } from './call-settings.ts';
import type { CallView, Requests } from './call-view.ts';
import { rfc2822 } from './form.ts';
import type { HookAnswer, HookReport, HookRequest } from './hooks.ts';
import { geoOf } from './numbers.ts';
import type { World } from './world.ts';

export class CallRequests implements Requests {
  readonly reports: HookReport[] = [];
  readonly #world: World;
  readonly #call: CallView;
  #sequence = 0;

  constructor(world: World, call: CallView) {
    this.#world = world;
    this.#call = call;
  }

  /** Identity and geography: what every request about this call carries. */
  parameters(): Record<string, string> {
    const { to, from, direction, parentSid } = this.#call.options;
    const geo: Record<string, string> = {};
    for (const [party, number] of [
      ['From', from],
      ['To', to],
      ['Caller', from],
      ['Called', to],
    ] as const) {
      for (const [field, value] of Object.entries(geoOf(number))) geo[party + field] = value;
    }
    const parent = parentSid ? { ParentCallSid: parentSid } : {};
    return {
      CallSid: this.#call.sid,
      AccountSid: this.#world.options.accountSid,
      From: from,
      To: to,
      Caller: from,
      Called: to,
      CallStatus: this.#call.status,
      Direction: direction,
      ApiVersion: '2010-04-01',
      ...geo,
      ...parent,
    };
  }

  /** Sends a signed request of this call after `delayMs` and answers what came back. */
  async send(request: Omit<HookRequest, 'callSid'>, delayMs = 0): Promise<HookAnswer> {
    const hook: HookRequest = { ...request, callSid: this.#call.sid };
    const strike = { path: hook.url, callSid: this.#call.sid };
    const slow = this.#world.faults.take('hook_delay', strike);
    const wait = delayMs + (slow ? this.#call.random.between(slow.ms ?? [1000, 1000]) : 0);
    if (wait > 0) await new Promise<void>((resolve) => this.#world.after(wait, resolve));
    const report = this.#report(hook, false);
    const wrong = this.#world.hooks.wrongOf(hook.url);
    if (wrong !== null) this.#call.fail(11243, wrong);
    if (this.#world.faults.take('hook_drop', strike)) {
      report.error = 'injected: never sent';
      return { ok: false, code: 11200, error: report.error };
    }
    const answer = await this.#world.hooks.send(hook, report);
    this.#world.events.emit('hook.sent', this.#call.sid, {
      kind: hook.kind,
      status: report.status,
      error: report.error,
      callStatus: hook.parameters.CallStatus ?? null,
    });
    const again = this.#world.faults.take('hook_duplicate', strike) !== null;
    const isCallback = hook.kind === 'status' || hook.kind === 'amd' || hook.kind === 'stream';
    if (again || (isCallback && this.#call.random.chance(this.#call.network.hookDuplicateRate))) {
      this.#world.after(this.#call.random.between([0, 500]), () => {
        void this.#world.hooks.send(hook, this.#report(hook, true));
      });
    }
    return answer;
  }

  /** A callback nobody waits for, delayed as the network profile says. */
  callback(request: Omit<HookRequest, 'callSid'>, delayMs = 0): void {
    void this.send(request, delayMs + this.#call.random.between(this.#call.network.hookDelayMs));
  }

  /** A status callback, when it was asked for; SequenceNumber counts those that are sent. */
  progress(event: ProgressEvent, callStatus: string, extra: Record<string, string> = {}): void {
    const { statusCallback, statusCallbackMethod, statusCallbackEvents } = this.#call.settings;
    if (!statusCallback || !statusCallbackEvents.includes(event)) return;
    const sequence = this.#sequence++;
    this.callback({
      kind: 'status',
      url: statusCallback,
      method: statusCallbackMethod,
      parameters: {
        ...this.parameters(),
        CallStatus: callStatus,
        Timestamp: rfc2822(Date.now()),
        CallbackSource: 'call-progress-events',
        SequenceNumber: String(sequence),
        ...extra,
      },
    });
  }

  #report(hook: HookRequest, duplicate: boolean): HookReport {
    const report: HookReport = {
      kind: hook.kind,
      url: hook.url,
      method: hook.method,
      parameters: hook.parameters,
      sentMs: this.#call.nowMs(),
      tookMs: null,
      attempts: 0,
      status: null,
      error: null,
      duplicate,
    };
    this.reports.push(report);
    return report;
  }
}
