import type { SpecSource } from '../../spec/load/source-document.ts';

/** The peripherals of the story, as EDN: a game, a chat with the person, a review, and `desk` for the second agent. */
const peripherals = (config: string): string => `
{:alfworld
 {:peripheral/id :alfworld
  :peripheral/tools #{:alfworld-action :bell :whistle}
  :peripheral/scope :alfworld-simulation
  :peripheral/entry #{:default :from-chat :user-request}
  :peripheral/exit #{:won :stuck :user-request :hop-chat :hop-reflect}
  :peripheral/context {:session-id :inherit :alfworld-state :resumable}
  :peripheral/config {${config} :commands "on-refusal"}}

 :chat
 {:peripheral/id :chat
  :peripheral/tools #{}
  :peripheral/scope :conversation
  :peripheral/entry #{:default :from-any :user-request}
  :peripheral/exit #{:hop-alfworld :hop-reflect}
  :peripheral/context {:session-id :inherit}}

 :reflect
 {:peripheral/id :reflect
  :peripheral/tools #{:musn-log}
  :peripheral/scope :session-log-only
  :peripheral/entry #{:session-close :user-request :agent-request :from-any}
  :peripheral/exit #{:par-generated}
  :peripheral/context {:session-id :inherit :session-log :fetch-from-musn}}

 :desk
 {:peripheral/id :desk
  :peripheral/tools #{:bell}
  :peripheral/scope :conversation
  :peripheral/entry #{:default}
  :peripheral/exit #{:hop-reflect}
  :peripheral/context {:session-id :inherit}}}
`;

/** The files of the story's spec set. @param config entries of an EDN map that name the world */
export const storySpecs = (config: string): readonly SpecSource[] => [
  { file: 'peripherals.edn', text: peripherals(config) },
];
