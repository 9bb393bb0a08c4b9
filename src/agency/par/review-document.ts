import type { Doc } from 'yjs';

/** Loads yjs, which only reviews of several agents need. */
export const loadYjs = () => import('yjs');

/** The words of each agent in a shared review, by the agent's name. */
export type ReviewContributions = { readonly [agent: string]: string };

/** The facts of a review that are needed to continue it: its title, its session, the port of its document. */
export type ReviewFacts = { readonly title?: string; readonly session?: string; readonly port?: number };

const factsIn = (doc: Doc) => doc.getMap<string | number>('review');

export const reviewFactsOf = (doc: Doc): ReviewFacts => factsIn(doc).toJSON();

export function setReviewFacts(doc: Doc, facts: ReviewFacts): void {
  const known = factsIn(doc);
  for (const [name, value] of Object.entries(facts)) if (known.get(name) !== value) known.set(name, value);
}

const mapOf = (doc: Doc) => doc.getMap<string>('contributions');

/** Sets the words of one agent. Of two texts that the agent wrote in parallel, every replica keeps the same one. */
export const setReviewContribution = (doc: Doc, agent: string, text: string): void => void mapOf(doc).set(agent, text);

export const reviewContributionsOf = (doc: Doc): ReviewContributions =>
  Object.fromEntries([...mapOf(doc).entries()].sort(([a], [b]) => (a < b ? -1 : 1)));
