import type { PageData } from '../page-data.ts';
import { GrantList } from './grants.tsx';
import { Messages } from './messages.tsx';
import { NotifyButton } from './notify.tsx';
import { RefusedAnswer, RequestCard, refusedAnswer } from './request-card.tsx';

/** Everything that waits for the operator, oldest first, and the grants that are valid now. */
export function Inbox({ source }: { readonly source: PageData }) {
  const waiting = source.waiting.value;
  if (source.acts === null) return null;
  const refused = refusedAnswer.value;
  return (
    <>
      {/* The request that another person has answered is gone from the list. */}
      {refused && !waiting.some(({ id }) => id === refused.id) && <RefusedAnswer />}
      {waiting.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
        <section class="inbox" aria-label="Waits for you" tabIndex={0}>
          <h2>
            {waiting.length === 1 ? '1 request waits for you' : `${waiting.length} requests wait for you`}{' '}
            <NotifyButton />
          </h2>
          <ul>
            {waiting.map((one) => (
              <li key={one.id}>
                <RequestCard request={one} source={source} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <Messages source={source} />
      <GrantList grants={source.grants.value} acts={source.acts} />
    </>
  );
}
