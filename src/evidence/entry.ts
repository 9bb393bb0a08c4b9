import type { Json, Mode } from '../spec/types.ts';

/** The ten evidence types of futon3c, the project that hopgate's contracts come from. */
export const EVIDENCE_TYPES = [
  'coordination',
  'gate-traversal',
  'pattern-selection',
  'pattern-outcome',
  'reflection',
  'forum-post',
  'mode-transition',
  'presence-event',
  'correction',
  'conjecture',
] as const;
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

/** The role of an entry in its thread. */
export const CLAIM_TYPES = [
  'goal',
  'step',
  'evidence',
  'conclusion',
  'question',
  'observation',
  'tension',
  'correction',
  'conjecture',
] as const;
export type ClaimType = (typeof CLAIM_TYPES)[number];

export const SUBJECT_TYPES = [
  'pattern',
  'mission',
  'component',
  'gate',
  'session',
  'agent',
  'thread',
  'evidence',
] as const;
export interface Subject {
  readonly type: (typeof SUBJECT_TYPES)[number];
  readonly id: string;
}

/** An entry as its writer provides it; the chain adds `seq`, `prev` and `hash`. */
export interface EntryDraft {
  /** Unique in the store. */
  readonly id: string;
  /** ISO 8601 with milliseconds, UTC. */
  readonly at: string;
  readonly type: EvidenceType;
  readonly claim: ClaimType;
  readonly subject: Subject;
  readonly author: string;
  readonly sessionId: string;
  /** The session's peripheral; null outside of any. */
  readonly peripheral: string | null;
  /** null where the spec set has no mode gate. */
  readonly mode: Mode | null;
  readonly body: Json;
  readonly tags: readonly string[];
  readonly patternId?: string;
  readonly inReplyTo?: string;
  readonly forkOf?: string;
  readonly conjecture?: boolean;
}

/** One link of a session's chain. */
export interface Entry extends EntryDraft {
  /** Position in the session, from 0. */
  readonly seq: number;
  /** sha256 of the RFC 8785 form of the body. The chain can still be checked after the body was erased. */
  readonly bodyHash: string;
  /** The hash of the entry before; 64 zeros in the first entry. */
  readonly prev: string;
  /** sha256 of `prev` and the head bytes: the RFC 8785 form of all fields except `body`, `prev` and `hash`. */
  readonly hash: string;
}

/** An entry as a store keeps it: the exact bytes that were hashed, so that checking never re-serialises. */
export interface StoredEntry {
  readonly entry: Entry;
  /** UTF-8 of the head bytes. */
  readonly head: string;
  /** UTF-8 of the body bytes; null when the body was erased. */
  readonly body: string | null;
}

/** The last entry of a session's chain. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

export const EMPTY_CHAIN: ChainHead = { seq: -1, hash: '0'.repeat(64) };
