/** The list, begun so far on: different places of a large spec set try different things. */
export const rotate = <T>(list: readonly T[], by: number): readonly T[] => {
  const at = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
};
