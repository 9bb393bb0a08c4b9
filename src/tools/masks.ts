// The rules live in gate/: policy has one place.
export * from '../gate/masks.ts';
