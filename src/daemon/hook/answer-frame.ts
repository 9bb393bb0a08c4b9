/** The output and exit status of a process, as encoded in the daemon's answer. */
export interface DecodedAnswerFrame {
  readonly exit: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export function encodeAnswerFrame({ exit, stdout, stderr }: { exit: number; stdout: string; stderr: string }): Buffer {
  const [out, err] = [Buffer.from(stdout), Buffer.from(stderr)];
  return Buffer.concat([Buffer.from(`hopgate ${exit} ${out.length} ${err.length}\n`), out, err]);
}

/** Encodes output that is sent before the frame, while the process runs. */
export function encodeOutputPart(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`part ${bytes.length}\n`), bytes]);
}

/** Passes each complete part of the output that `bytes` begins with to `onPart`; returns the rest. */
export function takeOutputParts(bytes: Buffer, onPart: (bytes: Buffer) => void): Buffer {
  for (let rest = bytes; ; ) {
    const [head, length] = /^part (\d+)\n/.exec(rest.subarray(0, 24).toString('latin1')) ?? [];
    const end = head === undefined ? Number.POSITIVE_INFINITY : head.length + Number(length);
    if (head === undefined || rest.length < end) return rest;
    onPart(rest.subarray(head.length, end));
    rest = rest.subarray(end);
  }
}

export function decodeAnswerFrame(bytes: Buffer): DecodedAnswerFrame | null {
  const end = bytes.indexOf(10);
  const [, exit, out, err] = /^hopgate (\d+) (\d+) (\d+)$/.exec(bytes.subarray(0, Math.max(end, 0)).toString()) ?? [];
  const head = end + 1;
  const middle = head + Number(out);
  if (exit === undefined || bytes.length !== middle + Number(err)) return null;
  return { exit: Number(exit), stdout: bytes.subarray(head, middle), stderr: bytes.subarray(middle) };
}
