import type { ArgumentForm, MethodForms } from '../../base/assert-argument.ts';
import { isObject, textOf } from '../../base/json.ts';
import type { EvidenceStore } from '../../ports/evidence-store.ts';
import type { MessageStore } from '../../ports/message-store.ts';

const isOptional = (test: (value: unknown) => boolean) => (value: unknown) => value === undefined || test(value);
const isText = (value: unknown): boolean => textOf(value) !== null;
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value);

const STRING: ArgumentForm = [(value) => typeof value === 'string', 'a text'];
const TEXT: ArgumentForm = [isText, 'a text that is not empty'];
const TEXT_OR_NULL: ArgumentForm = [(value) => value === null || typeof value === 'string', 'a text or null'];
const NUMBER: ArgumentForm = [(value) => typeof value === 'number', 'a number'];
const WHOLE: ArgumentForm = [isWhole, 'a whole number'];
const OBJECT: ArgumentForm = [isObject, 'an object'];
const OBJECTS: ArgumentForm = [(value) => Array.isArray(value) && value.every(isObject), 'a list of objects'];
const HEAD: ArgumentForm = { seq: WHOLE, hash: STRING };
const SESSION: ArgumentForm = [isText, 'the id of a session'];
const HOLDER: ArgumentForm = [isText, 'the name of the writer'];
const LEASE: ArgumentForm = { sessionId: SESSION, holder: HOLDER };
const FOLD: ArgumentForm = { head: HEAD, text: STRING };
const isFold = (value: unknown): boolean =>
  isObject(value) && typeof value['text'] === 'string' && isObject(value['head']) && isWhole(value['head']['seq']);

/** The form of the options of a method that reads, in which some fields are numbers. */
const optionForm = (...names: readonly string[]): ArgumentForm => [
  isOptional((value) => isObject(value) && names.every((name) => isOptional(isWhole)(value[name]))),
  `an object in which ${names.join(' and ')} are whole numbers, or left out`,
];

/** The forms of the arguments of a store; drafts and queries have checks of their own. */
export const STORE_FORMS: MethodForms<EvidenceStore> = {
  acquire: { sessionId: SESSION, holder: HOLDER, ttl: NUMBER },
  release: { lease: LEASE, fold: [isOptional(isFold), '{ head, text }, or left out'] },
  keepFold: { lease: LEASE, fold: FOLD },
  keptFold: { sessionId: STRING },
  append: { lease: LEASE, after: HEAD, drafts: OBJECTS },
  appendEphemeral: { sessionId: SESSION, drafts: OBJECTS },
  head: { sessionId: STRING },
  get: { id: STRING },
  replyChain: { id: STRING },
  label: {
    sessionId: STRING,
    label: {
      name: [isOptional((value) => value === null || typeof value === 'string'), 'a text, null, or left out'],
      archived: [isOptional((value) => typeof value === 'boolean'), 'true, false, or left out'],
    },
  },
  putBlob: { bytes: [(value) => value instanceof Uint8Array, 'a Uint8Array'] },
  getBlob: { hash: STRING },
  blobReferences: { hash: STRING },
  collectBlobs: { options: OBJECT },
  erase: {
    what: [
      (value) =>
        isObject(value) && (isText(value['sessionId']) || (Array.isArray(value['ids']) && value['ids'].every(isText))),
      '{ sessionId } or { ids }',
    ],
  },
  note: { note: { at: STRING, code: STRING, sessionId: TEXT_OR_NULL, message: STRING } },
  notes: { options: optionForm('limit') },
};

export const ENTRIES_FORMS: ArgumentForm = { sessionId: STRING, options: optionForm('from') };

const WAIT: ArgumentForm = { id: TEXT, waiter: TEXT, target: TEXT, until: NUMBER };
const DRAFT = { id: TEXT, kind: TEXT, act: TEXT, to: TEXT, from: TEXT, author: TEXT, text: STRING, ref: TEXT_OR_NULL };

/** The forms of the arguments of the inboxes. */
export const MESSAGE_FORMS: MethodForms<MessageStore> = {
  send: { message: DRAFT },
  inbox: { address: STRING, options: optionForm('after', 'limit') },
  countUnread: { address: STRING },
  find: { id: STRING },
  answerTo: { id: STRING },
  mark: { id: STRING, state: TEXT },
  receipts: { sender: STRING, after: WHOLE, message: [isOptional(isText), 'the id of a message, or left out'] },
  hasNews: { address: STRING, after: { seq: WHOLE, receipt: WHOLE } },
  wait: { wait: WAIT },
  endWait: { id: STRING },
  waits: { now: NUMBER },
  putWaits: { node: TEXT, waits: OBJECTS },
  addNode: { name: TEXT },
  mailFor: { node: TEXT, after: { message: WHOLE, receipt: WHOLE }, limit: WHOLE },
  addPerson: { name: TEXT },
  eraseTexts: { address: TEXT },
};
