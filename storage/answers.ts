// What verbs of storage have in common: a page of a list, and the answer that something is no longer as it was. PURE types.

/** Newest first. `startingAfter` is the id of the last item of the page before. */
export interface Page {
  limit: number;
  startingAfter?: string | undefined;
}

/** What a verb answers when the state it was to change is no longer there. */
export type Conflict = { conflict: string };
