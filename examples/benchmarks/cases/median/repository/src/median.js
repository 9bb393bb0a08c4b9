/** The middle of a list of numbers; of an even count, the mean of the two in the middle. */
export function median(numbers) {
  const sorted = numbers.toSorted();
  return sorted[Math.floor(sorted.length / 2)];
}
