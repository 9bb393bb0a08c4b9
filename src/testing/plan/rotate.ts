/** The list rotated by `by`, so that different places of a large spec set try different cases. */
export const rotate = <T>(list: readonly T[], by: number): readonly T[] => {
  const at = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
};
