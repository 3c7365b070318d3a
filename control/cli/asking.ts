// Questions to who sits at the terminal. Where nobody does, a secret is read from stdin and a yes has to be said beforehand.
import { createInterface } from 'node:readline';
import { visibleLine } from '../../terminal-text.ts';
import type { Context } from './context.ts';
import { Ending, EXIT } from './exit.ts';

/** What is answered; `left` is said where the answer is Ctrl-C or Ctrl-D. @throws Ending */
async function answered<T>(ask: Promise<T>, left: string): Promise<T> {
  try {
    return await ask;
  } catch (error) {
    const { name } = error as Error;
    if (name !== 'ExitPromptError' && name !== 'AbortPromptError') throw error;
    throw new Ending(EXIT.failed, left);
  }
}

/** Reads a secret without showing it; from a pipe, the first line. @throws Ending when the answer is Ctrl-C or Ctrl-D */
export async function askHidden(question: string, signal: AbortSignal): Promise<string> {
  if (process.stdin.isTTY !== true) {
    for await (const line of createInterface({ input: process.stdin, signal })) return line.trim();
    return '';
  }
  const { default: password } = await import('@inquirer/password');
  // What the command answers is on stdout; the question is not a part of it.
  const asked = password({ message: visibleLine(question) }, { output: process.stderr, signal });
  return (await answered(asked, 'No key was given; nothing was kept.')).trim();
}

/** Asks on a terminal; elsewhere `yes` is the answer. @throws Ending when it is no */
export async function confirmed(
  { signal }: Pick<Context, 'signal'>,
  yes: boolean | undefined,
  question: string,
): Promise<void> {
  if (yes) return;
  if (process.stdin.isTTY !== true) throw new Ending(EXIT.usage, `${question} Say so with --yes.`);
  const { default: confirm } = await import('@inquirer/confirm');
  const asked = confirm(
    { message: visibleLine(question), default: false },
    { output: process.stderr, signal },
  );
  if (!(await answered(asked, 'Nothing was done.'))) throw new Ending(EXIT.failed, 'Nothing was done.');
}
