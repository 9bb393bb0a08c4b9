/** Rotates a list to begin with the item at `by` (modulo its length), so that each peripheral tries other cases. */
export const rotateList = <T>(list: readonly T[], by: number): readonly T[] => {
  const at = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
};
