export { type Bridge, startBridge } from './bridge-server.ts';
export { type Send, statelyInspector } from './stately-inspector.ts';
