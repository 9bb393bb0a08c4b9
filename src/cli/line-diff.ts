/** Compares two texts by lines: ` ` is in both, `-` only before, `+` only after (longest common subsequence). */
export function diffLines(before: string, after: string): readonly string[] {
  const a = lines(before);
  const b = lines(after);
  // common[i][j]: length of the longest common subsequence of a[i…] and b[j…]
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const out: string[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push(` ${a[i++]}`);
      j++;
    } else if (j >= b.length || (i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!)) out.push(`-${a[i++]}`);
    else out.push(`+${b[j++]}`);
  }
  return out;
}

const lines = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
