// offhook completion: scripts for the shells, which ask the program itself what may come next.
import type { Command } from 'commander';
import type { Run } from './context.ts';
import { UsageError } from './exit.ts';

const SCRIPTS: Record<string, string> = {
  bash: `_offhook() {
  local IFS=$'\\n'
  COMPREPLY=($(offhook __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _offhook offhook`,
  zsh: `#compdef offhook
_offhook() {
  local -a found
  found=("\${(@f)$(offhook __complete -- "\${(@)words[2,$CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _offhook offhook`,
  fish: `complete -c offhook -f -a '(offhook __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'`,
};

const HOW = `Add it to your shell:
  bash   offhook completion bash >> ~/.bashrc
  zsh    offhook completion zsh >> ~/.zshrc
  fish   offhook completion fish > ~/.config/fish/completions/offhook.fish`;

/** What may stand in the place of the last word. */
export function candidates(program: Command, words: readonly string[]): string[] {
  const last = words.at(-1) ?? '';
  let at = program;
  for (let i = 0; i < words.length - 1; i++) {
    const word = words[i] ?? '';
    if (word.startsWith('-')) {
      const option = [...at.options, ...program.options].find(
        ({ short, long }) => word === short || word === long,
      );
      if (option?.required) i++;
      continue;
    }
    at = at.commands.find((one) => one.name() === word || one.aliases().includes(word)) ?? at;
  }
  const before = words.at(-2) ?? '';
  const open = [...at.options, ...program.options].find(
    ({ long, short }) => before !== '' && (before === long || before === short),
  );
  // The value of an option: the shell's own completion may know a file.
  if (open?.required) return [];
  const names = last.startsWith('-')
    ? [...at.options, ...program.options].flatMap(({ long }) => long ?? [])
    : at.commands.map((one) => one.name()).filter((name) => !name.startsWith('_'));
  return [...new Set(names)].filter((name) => name.startsWith(last)).sort();
}

export function addCompletion(program: Command, run: Run): void {
  program
    .command('completion <shell>')
    .description('a completion script for bash, zsh or fish')
    .addHelpText('after', `\n${HOW}`)
    .action(
      run(async ({ output }, _o, shell) => {
        const script = SCRIPTS[shell];
        if (script === undefined)
          throw new UsageError(`There is no completion for "${shell}": bash, zsh or fish.`);
        output.line(script);
      }),
    );
  program
    .command('__complete [words...]', { hidden: true })
    .allowUnknownOption()
    .action(
      run(async ({ output }, _o, words) => {
        for (const name of candidates(program, words as unknown as string[])) output.line(name);
      }),
    );
}
