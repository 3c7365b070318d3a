// How an organization is found by what an operator types: its id, or its name, whatever the case. PURE.

const folded = (text: string) => text.normalize('NFC').toLowerCase();

/** The one of that id, else the first of that name: to be given the oldest first. */
export function findNamed<O extends { id: string; name: string }>(
  organizations: readonly O[],
  idOrName: string,
): O | undefined {
  const wanted = folded(idOrName.trim());
  return (
    organizations.find(({ id }) => id === wanted) ?? organizations.find(({ name }) => folded(name) === wanted)
  );
}
