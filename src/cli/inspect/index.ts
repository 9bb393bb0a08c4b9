export { type Bridge, startBridge } from './bridge-server.ts';
export { type SendToInspector, statelyInspector } from './stately-inspector.ts';
