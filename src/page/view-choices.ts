import { type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { RowFilter } from './row-filters.ts';

export interface ViewChoices {
  /** The id of the shown session; null for the overview of all sessions. */
  readonly session: Signal<string | null>;
  /** The id of the peripheral whose tools are listed. */
  readonly peripheral: Signal<string | null>;
  readonly rowText: Signal<string>;
  readonly rowFilter: Signal<RowFilter>;
}

export const newViewChoices = (): ViewChoices => ({
  session: signal(null),
  peripheral: signal(null),
  rowText: signal(''),
  rowFilter: signal('all'),
});

export const ViewChoicesContext = createContext(newViewChoices());

export const useViewChoices = (): ViewChoices => useContext(ViewChoicesContext);
