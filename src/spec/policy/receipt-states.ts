/** The states of a message, in order. */
export const RECEIPT_STATES = ['sent', 'delivered', 'read', 'answered'] as const;
