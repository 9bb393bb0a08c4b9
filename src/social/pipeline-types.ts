import type { Subject } from '../evidence/entry.ts';
import type { Denial } from '../gate/denial.ts';
import type { EvidenceStore } from '../ports/evidence-store.ts';
import type { Message, MessageDraft, MessageStore, ReceiptState } from '../ports/message-store.ts';
import type { Json, Mode, ModeGateSpec, Principal } from '../spec/types.ts';
import type { ClassifiedMessage } from './classify-message.ts';

/** The connection over which a message arrived. It alone identifies the sender; the message's text cannot. */
export interface SenderConnection {
  readonly transport: 'cli' | 'http' | 'timer';
  readonly principal: Principal;
  /** The id of the agent's session, or the name of the person; ignored for the clock. */
  readonly name: string;
}

export interface IncomingMessage {
  /** The id of the message; a request with the same id never sends it again. */
  readonly id: string;
  /** `session:<id>`, `agent:<id>` or `person:<name>`; null opens a session. */
  readonly to: string | null;
  readonly payload: Json;
}

/** The services that the program which received a message (command line, server or timer) provides to the pipeline. */
export interface SocialServices {
  readonly store: EvidenceStore;
  readonly messages: MessageStore;
  /** Opens a session with the given id for a message without a recipient; null if this program opens none. */
  readonly opener: {
    readonly root: string;
    /** The mode gate that a new session has. */
    readModeGate(): Promise<ModeGateSpec | null>;
    open(session: string): Promise<unknown>;
  } | null;
  readonly now: () => number;
  /** Sends an agent's message as a step of the agent's session, so that the gate of that session decides it, too. */
  readonly ringAs?: (
    session: string,
    draft: MessageDraft,
  ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly denial: Denial }>;
}

export interface SocialOutcome {
  readonly type: 'task-submission' | 'coordination-complete' | 'coordination-failed';
  readonly valid: boolean;
  readonly state: ReceiptState | null;
}

export const messageSubject = (message: string): Subject => ({ type: 'evidence', id: message });

/** A message on its way through the pipeline; each stage adds fields. */
export interface PipelineMessage {
  readonly connection: SenderConnection;
  readonly incoming: IncomingMessage;
  from?: string;
  classified?: ClassifiedMessage;
  to?: string;
  /** The mode of the recipient by which the message was judged; null for people. */
  mode?: Mode | null;
  opened?: boolean;
  sent?: Message;
  outcome?: SocialOutcome;
}
