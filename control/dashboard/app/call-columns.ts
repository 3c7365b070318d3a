// Which columns the list of calls has: those there are, those that a reader has chosen, as this browser keeps them. PURE.

/** All there are, in their order. The first names the call and is always there. */
export const CALL_COLUMNS = [
  { id: 'who', label: 'Other side', always: true },
  { id: 'agent', label: 'Agent', always: false },
  { id: 'ended', label: 'How it ended', always: true },
  { id: 'result', label: 'Result', always: false },
  { id: 'duration', label: 'Duration', always: false },
  { id: 'charged', label: 'Charged', always: false },
  { id: 'cost', label: 'Cost', always: false },
  { id: 'ours', label: 'Our number', always: false },
  { id: 'language', label: 'Language', always: false },
  { id: 'model', label: 'Model', always: false },
  { id: 'placed', label: 'Placed', always: false },
] as const;

export type CallColumn = (typeof CALL_COLUMNS)[number]['id'];

const USUAL: ReadonlySet<CallColumn> = new Set([
  'who',
  'agent',
  'ended',
  'result',
  'duration',
  'cost',
  'placed',
]);

/** Reads what was kept; what is not known any more is left out, and without anything the usual ones are shown. */
export function columnsFrom(kept: string | null): ReadonlySet<CallColumn> {
  if (kept === null) return USUAL;
  const names = new Set(kept.split(','));
  return new Set(CALL_COLUMNS.flatMap(({ id, always }) => (always || names.has(id) ? [id] : [])));
}

/** What is kept of a choice; null: the usual one, which may change with a new version. */
export function keptColumns(chosen: ReadonlySet<CallColumn>): string | null {
  const text = (of: ReadonlySet<CallColumn>) =>
    CALL_COLUMNS.flatMap(({ id }) => (of.has(id) ? [id] : [])).join(',');
  return text(chosen) === text(USUAL) ? null : text(chosen);
}
