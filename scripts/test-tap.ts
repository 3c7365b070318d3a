// What a test file says in TAP, read line by line: its tests counted (not their assertions), its notes, and whether it said
// all that it meant to. PURE.

export class TapReader {
  passed = 0;
  failed = 0;
  /** Names of the tests that were left out, with their reasons. */
  readonly skipped: string[] = [];
  /** What a test wants to be known though it passed: a measure, where pictures are. */
  readonly notes: string[] = [];
  #points = 0;
  #planned: number | null = null;

  /** @param line without its end. A file's own tests stand at its beginning; what is in a test is indented. */
  read(line: string): void {
    const note = /^\s*# note: (.*)$/.exec(line);
    if (note !== null) this.notes.push(note[1] ?? '');
    const plan = /^1\.\.(\d+)(?: # (.*))?$/.exec(line);
    if (plan !== null) {
      this.#planned = Number(plan[1]);
      if (this.#planned === 0 && plan[2] !== undefined) this.skipped.push(plan[2]);
    }
    const point = /^(not )?ok \d+(?: - (.*))?$/.exec(line);
    if (point === null) return;
    this.#points++;
    const name = point[2] ?? '';
    if (/# SKIP/i.test(name)) this.skipped.push(name);
    else if (point[1]) this.failed++;
    else this.passed++;
  }

  /** Whether as many tests were told as were planned: a file that ends in the middle plans none. */
  get isWhole(): boolean {
    return this.#planned === this.#points;
  }
}
