import { readFileSync } from 'node:fs';

const SIGNATURE = Buffer.from([0xff, 0x74, 0x4f, 0x63]);
const FAN_OUT = 256 * 4;

/**
 * Returns a test that is true for the names of the objects in a pack. It reads the pack's `.idx`: sorted names after a
 * fan-out table (gitformat-pack, both versions).
 * @param path of the `.idx`
 * @param nameBytes length of a name: 20, or 32 with sha256
 */
export function packMembershipTest(path: string, nameBytes: number): (name: string) => boolean {
  const bytes = readFileSync(path);
  const isNew = bytes.subarray(0, 4).equals(SIGNATURE);
  const fanOut = isNew ? 8 : 0;
  const [stride, first] = isNew ? [nameBytes, fanOut + FAN_OUT] : [nameBytes + 4, fanOut + FAN_OUT + 4];
  const upTo = (byte: number) => (byte < 0 ? 0 : bytes.readUInt32BE(fanOut + 4 * byte));
  return (name) => {
    const bytesOfName = Buffer.from(name, 'hex');
    let [low, high] = [upTo(bytesOfName[0]! - 1), upTo(bytesOfName[0]!)];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = first + middle * stride;
      const order = bytes.compare(bytesOfName, 0, nameBytes, start, start + nameBytes);
      if (order === 0) return true;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  };
}
