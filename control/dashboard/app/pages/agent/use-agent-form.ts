// The form of an agent while it is being filled in, and what is not to be lost of it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { toFailure } from '../../failure.ts';
import { type AgentForm, type FormFault, formFaults, placedFault, sameForm } from '../../forms/agent-form.ts';
import { confirm } from '../../ui/dialog.ts';
import { guardLeaving } from '../../ui/router.ts';

export type AgentFormState = ReturnType<typeof useAgentForm>;

/** The form of an agent as it is being filled in: what is wrong with it, and what the daemon said of it. */
export function useAgentForm(start: AgentForm) {
  const [saved, setSaved] = useState(start);
  const [form, setForm] = useState(start);
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<{ fault: FormFault; value: unknown } | null>(null);
  const part = (fault: FormFault): unknown => {
    const key = /^\w+/.exec(fault.param)?.[0] ?? '';
    const field =
      {
        webhook_url: 'webhookUrl',
        voicemail_action: 'voicemailAction',
        interruption_words: 'interruptionWords',
      }[key] ?? key;
    return JSON.stringify(form[field as keyof AgentForm]);
  };
  const faults = tried ? formFaults(form) : [];
  // What the daemon refused stands until that part is changed.
  if (refused !== null && part(refused.fault) === refused.value) faults.push(refused.fault);
  return {
    form,
    saved,
    faults,
    isDirty: !sameForm(form, saved),
    set: (change: Partial<AgentForm>) => setForm((now) => ({ ...now, ...change })),
    /** Marks what is wrong and answers it. */
    check(): FormFault[] {
      setTried(true);
      return formFaults(form);
    },
    /** Marks what the daemon refused; answers where. A draft's places are those of an agent. */
    refuse(error: unknown): FormFault | null {
      const { param, message } = toFailure(error);
      if (param === undefined) return null;
      const fault = placedFault(form, {
        param: param.replace(/^draft\./, ''),
        message: message.replace(/^draft\./, ''),
      });
      setRefused({ fault, value: part(fault) });
      return fault;
    },
    reset(next: AgentForm) {
      setSaved(next);
      setForm(next);
      setTried(false);
      setRefused(null);
    },
  };
}

/** Asks before something unsaved is lost. */
export function useGuard(isDirty: boolean): { release: () => void } {
  const leave = useRef<() => void>(() => {});
  useEffect(() => {
    if (!isDirty) return;
    leave.current = guardLeaving(() =>
      confirm({
        title: 'Leave without saving?',
        text: 'What you changed on this page is lost.',
        action: 'Leave',
        danger: true,
      }),
    );
    return () => leave.current();
  }, [isDirty]);
  return { release: () => leave.current() };
}
